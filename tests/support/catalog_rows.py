"""Tables of the catalog's steps from a few values: a column that is not given is null."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.snapshot import Normalised, make_snapshot
from shelfsync.rows.resembled_sku import Known
from shelfsync.schemas import BASELINE, DELTA, FIELDS, LOG, QUARANTINE, RAW, SNAPSHOT
from shelfsync.settings import NormaliseSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Row = dict[str, Any]
FULL_ROW: Row = {"price": "4.5", "quantity": 3, "active": True, "max_sales_quantity": 10}


def raw(*rows: Mapping[str, Any], vendor: str = "store-001") -> pa.Table:
    """Rows of one vendor as an ERP gives them, numbered from 1."""
    numbered = [{"row_number": number, "vendor": vendor, **row} for number, row in enumerate(rows, start=1)]
    return pa.Table.from_pylist(numbered, schema=RAW)


def normalised(*rows: Mapping[str, Any], key: Any = "sku", known: Iterable[str] = (), **settings: Any) -> Normalised:
    skus = Known(pa.array(sorted(known), pa.string()))
    return make_snapshot(raw(*rows), NormaliseSettings(**settings), key=key, known=skus)


def value_or_reason(field: str, text: str | None, **options: Any) -> Any:
    """What is read of one text in a column, or the reason why it is quarantined."""
    result = normalised({"sku": "A1", field: text}, **options)
    [found] = (result.quarantine["reason"] if result.quarantine.num_rows else result.snapshot[field]).to_pylist()
    return found


def shelf(*rows: Mapping[str, Any]) -> pa.Table:
    """A baseline, or a snapshot without category and cost; prices may be given as text."""
    return _table(rows, BASELINE)


def snapshot(*rows: Mapping[str, Any]) -> pa.Table:
    """A snapshot with category and cost; prices and costs may be given as text."""
    return _table(rows, SNAPSHOT)


def delta(*rows: Mapping[str, Any]) -> pa.Table:
    """A delta; `change` is `changed` where it is not given."""
    return _table([{"change": "changed", **row} for row in rows], DELTA)


def log(*rows: Mapping[str, Any]) -> pa.Table:
    """Lines of a parsed log; accepted where no other state is given."""
    return pa.Table.from_pylist([{"state": "accepted", "raw": "{}", **row} for row in rows], schema=LOG)


def quarantined(*skus: str) -> pa.Table:
    same = {
        "row_number": 1,
        "field": "price",
        "reason": "price_negative",
        "message": "price is below zero",
        "raw": "{}",
        "row_sent": False,
    }
    return pa.Table.from_pylist([{**same, "sku": sku} for sku in skus], schema=QUARANTINE)


def fields_by_sku(table: pa.Table, *more: str) -> dict[str, Row]:
    """sku -> its values of FIELDS and of the columns `more`, without nulls."""
    names = (*FIELDS, *more)
    return {row["sku"]: {name: row[name] for name in names if row[name] is not None} for row in table.to_pylist()}


def changes(snapshot: pa.Table, baseline: pa.Table, **options: Any) -> dict[str, tuple[str, Row]]:
    """sku -> (kind of change, the fields sent), of the delta from the baseline to the snapshot."""
    table = compute_delta(snapshot, baseline, **{"full": False, **options})
    sent = fields_by_sku(table)
    return {row["sku"]: (row["change"], sent[row["sku"]]) for row in table.to_pylist()}


def two(*rows: Mapping[str, Any]) -> pa.Table:
    """A table of these rows and one more SKU, so that no delta has a single row."""
    return shelf({"sku": "zz", "price": "1"}, *rows)


def _table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    money = ("price", "cost")
    exact = [
        {name: Decimal(value) if name in money and value is not None else value for name, value in row.items()}
        for row in rows
    ]
    table = pa.Table.from_pylist(exact, schema=schema)
    return table.sort_by("sku")


def column_alarms(summary: dict[str, Any]) -> list[str]:
    """The alarms of a run about columns that are not those of the reading before."""
    return [line for line in summary["alarms"] if "columns have changed" in line]


def active_by_sku(world: Any) -> dict[str, bool]:
    """What the platform has on sale."""
    return {sku: product["active"] for sku, product in world.shown().items()}
