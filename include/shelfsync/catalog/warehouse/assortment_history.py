"""The assortment history: each row has what the platform showed of a SKU from one observation until a later one differed.

An observation is an export or a listing. Its load compares the file loaded before with the new one, and writes only the SKUs that are
new, changed or gone (COPY, and one MERGE that closes the rows they end). The rows written depend on the files alone. A load that runs
twice, in two processes, or again after a crash ends in the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.warehouse import record, tables
from shelfsync.errors import DataError, TryAgainError
from shelfsync.store.bulk import copy_into
from shelfsync.store.metadata import PAST_LAKE_FILE, boolean, count, instant, metadata, moment, number, text

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.observations import Observation

VALUES = ("barcode", "price", "active", "max_sales_quantity")


observation = sa.Table(
    "observation",
    metadata,
    number("observation_id", "Number of the observation", primary_key=True, autoincrement=False),
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), nullable=False),
    text("how", "export or listing", nullable=False),
    text("path", "Lake, while ledger.observation has it: a row a SKU", nullable=False, info=PAST_LAKE_FILE),
    boolean("in_history", "False: it was loaded after a newer one, so the history leaves it out", nullable=False),
    count("rows", "SKUs shown"),
    count("rows_new", "SKUs that were not shown before"),
    count("rows_changed", "SKUs shown with another value than before"),
    count("rows_gone", "SKUs that are no longer shown"),
    moment("observed_at", "When it was requested: it shows no older state", nullable=False),
    moment("loaded_at", "When it was loaded", nullable=False),
    sa.Index("ix_observation_vendor", "vendor", "observed_at"),
    schema="warehouse",
    comment="One row an observation of a vendor that was loaded, each file once",
)

assortment_history = sa.Table(
    "assortment_history",
    metadata,
    text("vendor", "The vendor", primary_key=True),
    text("sku", "The SKU", primary_key=True),
    moment(
        "valid_from",
        "The observation that first showed these values; they may be older, but newer than the observation before",
        primary_key=True,
    ),
    moment("valid_to", "The observation that first showed other values, or no longer had the SKU; null: still shown"),
    text("barcode", "Barcode shown, without padding"),
    sa.Column("price", sa.Numeric(20, 3), comment="Price shown"),
    boolean("active", "Whether it was on sale"),
    number("max_sales_quantity", "Most pieces an order may hold; null: no limit"),
    schema="warehouse",
    comment="What the platform showed of each SKU and when (type 2): one row a span of unchanged values",
)


@dataclass(frozen=True)
class LastLoaded:
    """The newest observation in the history of a vendor."""

    observation_id: int
    path: str
    rows: int
    observed_at: dt.datetime


@dataclass(frozen=True)
class Loaded:
    """The same with its rows (OBSERVED schema)."""

    last: LastLoaded
    table: pa.Table


def last_loaded(connection: Connection, vendor: str, *, but: int = 0) -> LastLoaded | None:
    """The newest observation in a vendor's history (without the one of the number `but`), or None while it is empty."""
    seen = observation.c
    statement = (
        sa.select(seen.observation_id, seen.path, seen.rows, seen.observed_at)
        .where(seen.vendor == vendor, seen.in_history, seen.observation_id != but)
        .order_by(seen.observed_at.desc(), seen.observation_id.desc())
        .limit(1)
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else LastLoaded(*row)


_SHOWN_NOW = """
SELECT sku, barcode, price, active, max_sales_quantity FROM warehouse.assortment_history
WHERE vendor = :vendor AND valid_to IS NULL ORDER BY sku COLLATE "C"
"""


def shown_now(connection: Connection, vendor: str) -> pa.Table:
    """The rows of the observation loaded last (OBSERVED schema, by sku), without its file."""
    import pyarrow as pa

    from shelfsync.schemas import OBSERVED

    rows = connection.execute(sa.text(_SHOWN_NOW), {"vendor": vendor}).mappings()
    return pa.Table.from_pylist([dict(row) for row in rows], schema=OBSERVED)


def load_observation(connection: Connection, seen: Observation, rows: pa.Table, *, before: Loaded | None) -> None:
    """Brings a vendor's history to this observation (OBSERVED schema), once, in the caller's transaction.

    `before` is the result of `last_loaded`, with its rows. A second load of an observation changes nothing. An observation older than
    the loaded one is recorded, but not in the history. TryAgainError if another process loaded an observation meanwhile; DataError if the
    rows do not add up afterwards.
    """
    import pyarrow as pa

    record.VENDOR.copy(connection, [seen.vendor])
    late = before is not None and before.last.observed_at >= seen.observed_at
    if not _claim(connection, seen, in_history=not late):
        return
    now = last_loaded(connection, seen.vendor, but=seen.observation_id)
    if (None if now is None else now.observation_id) != (None if before is None else before.last.observation_id):
        raise TryAgainError(
            f"observe: vendor {seen.vendor}: another observation was loaded meanwhile; the next run loads this one"
        )
    if late:
        return
    new, changed, gone = compared(rows, None if before is None else before.table)
    if before is not None:
        _close(connection, seen, pa.concat_tables([changed.select(["sku"]), gone]))
    for part in (new, changed):
        copy_into(connection, "warehouse.assortment_history", part, vendor=seen.vendor, valid_from=seen.observed_at)
    counts = {"rows_new": new.num_rows, "rows_changed": changed.num_rows, "rows_gone": gone.num_rows}
    connection.execute(observation.update().where(observation.c.observation_id == seen.observation_id).values(counts))
    _prove(seen, before, counts)


def _claim(connection: Connection, seen: Observation, *, in_history: bool) -> bool:
    names = ("observation_id", "vendor", "how", "path", "rows", "observed_at")
    values = {name: getattr(seen, name) for name in names} | {"in_history": in_history, "loaded_at": instant()}
    statement = insert(observation).values(values).on_conflict_do_nothing().returning(observation.c.observation_id)
    return connection.execute(statement).one_or_none() is not None


def compared(rows: pa.Table, before: pa.Table | None) -> tuple[pa.Table, pa.Table, pa.Table]:
    """(new, changed, gone): the first two in OBSERVED schema, the last one column of SKUs."""
    import pyarrow.compute as pc

    from shelfsync.rows.alignment import any_of, column, same

    if before is None:
        return rows, rows.slice(0, 0), rows.slice(0, 0).select(["sku"])
    skus, then = column(rows, "sku"), column(before, "sku")
    places = pc.index_in(skus, value_set=then)
    known = places.is_valid()
    moved = any_of(pc.invert(same(column(rows, name), column(before, name).take(places))) for name in VALUES)
    gone = before.select(["sku"]).filter(pc.invert(pc.is_in(then, value_set=skus)))
    return rows.filter(pc.invert(known)), rows.filter(pc.and_(known, moved)), gone


_CLOSE = """
MERGE INTO warehouse.assortment_history AS shown USING ended_row AS ended
ON shown.vendor = :vendor AND shown.sku = ended.sku AND shown.valid_to IS NULL
WHEN MATCHED THEN UPDATE SET valid_to = :at
"""


def _close(connection: Connection, seen: Observation, skus: pa.Table) -> None:
    """Ends the spans of these SKUs at this observation."""
    if not skus.num_rows:
        return
    connection.execute(sa.text("CREATE TEMPORARY TABLE ended_row (sku text) ON COMMIT DROP"))
    copy_into(connection, "ended_row", skus)
    connection.execute(sa.text("ANALYZE ended_row"))
    closed = connection.execute(sa.text(_CLOSE), {"vendor": seen.vendor, "at": seen.observed_at}).rowcount
    connection.execute(sa.text("DROP TABLE ended_row"))
    if closed != skus.num_rows:
        raise DataError(
            f"warehouse: vendor {seen.vendor}: {closed} of {skus.num_rows} spans of the assortment history are open, as the"
            f" observation before requires; nothing was loaded. Was warehouse.assortment_history changed by hand?"
        )


def _prove(seen: Observation, before: Loaded | None, counts: dict[str, int]) -> None:
    """Proves that the SKUs before, plus the new, minus the gone ones are the observation's."""
    then = 0 if before is None else before.last.rows
    if then + counts["rows_new"] - counts["rows_gone"] != seen.rows:
        raise DataError(
            f"warehouse: vendor {seen.vendor}: {then} SKUs before, {counts['rows_new']} new, {counts['rows_gone']} gone,"
            f" and the observation {seen.path} has {seen.rows}; nothing was loaded. Is the file the one that was observed?"
        )
