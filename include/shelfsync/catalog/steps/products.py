"""products: the rows of every store by their state, as `status` counts them, store by store: what a buyer looks through.

The state of each SKU comes from the function that the counts come from, so a list has as many rows as its count, but for
a store whose last extract is in quarantine as a whole: its rows stand on the page Quarantine alone. Only stores whose count is
not zero are read, and a page reads a few of them at most.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.exc import DBAPIError

from shelfsync.catalog.assortment.product_categories import skus_of_category
from shelfsync.catalog.assortment.product_names import with_names
from shelfsync.catalog.ledger import rejections, restorations, vendor_counts
from shelfsync.catalog.sku_state import COLUMNS as COUNTED
from shelfsync.catalog.steps.counts import products, with_facts
from shelfsync.errors import DataError, some_of
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.vendor_counts import Facts
    from shelfsync.catalog.sku_state import Counts
    from shelfsync.context import Context

log = logging.getLogger(__name__)

GROUPS = {
    "right": ("acknowledged", "suppressed"),
    "waiting": ("pending", "in_flight", "unconfirmed"),
    "held": ("held",),
    "rejected": ("rejected_for_good", "rejected_for_now"),
    "quarantined": ("quarantined",),
    "left": ("absent",),
}
"""The states as a buyer names them: each column of catalog.sku_state is in one, so they add up to all rows."""
BY_ERP = ("erp_rows", "not_in_erp")
"""All of them again, by whether the ERP has a row of it."""
COLUMNS = ("vendor", "sku", "state", "price", "price_on_platform", "active", "active_on_platform", "barcode", "reason")
"""Of a row."""
ORDERS = ("SKU", "highest price", "largest difference")
"""Of the rows of a store. The difference is that of the price: wanted, and on the platform. What has none comes last."""
STORES = 20
"""How many stores a page reads at most."""


@dataclass(frozen=True)
class Which:
    """Which products; None: any. `state`: a name of GROUPS or of BY_ERP, or a column of catalog.sku_state. `sku`: how it begins. `category`: as the ERP last named it.

    `order`: one of ORDERS, within each store.
    """

    state: str | None = None
    vendor: str | None = None
    sku: str | None = None
    category: str | None = None
    order: str = ORDERS[0]


@dataclass(frozen=True)
class Behind:
    """The row that a page goes on behind. `row`: its number in the extract, if it is in quarantine, else 0."""

    vendor: str
    sku: str
    row: int


@dataclass(frozen=True)
class Part:
    """Rows of COLUMNS with `name` and `row`, by vendor and SKU. `behind`: where the next part begins; None: there is no further one.

    `gone`: stores without rows here, because a file of theirs is gone or cannot be read. `restored`: stores of these rows with restored values.
    `numbers`: how many rows each group has in the stores that are asked for, whatever the state and the SKU.
    """

    rows: list[dict[str, Any]]
    behind: Behind | None
    gone: list[str]
    restored: list[str]
    numbers: dict[str, int]


def part(context: Context, which: Which, *, behind: Behind | None = None, most: int) -> Part:
    """The next rows, at most so many, of at most STORES stores."""
    stores = _stores(context, which, behind)
    rows: list[dict[str, Any]] = []
    gone = stores.unread
    with context.engine.connect() as connection:
        restored = {one.vendor for one in restorations.in_force(connection)}
        known = _without_vain_questions(connection, stores.known[: STORES + 1], which)

    def ended(following: Behind | None) -> Part:
        return Part(rows, following, sorted(gone), sorted(restored & {row["vendor"] for row in rows}), stores.numbers)

    for read, facts in enumerate(known):
        if read == STORES:
            return ended(Behind(facts.vendor, "", -1))
        here = behind if behind is not None and behind.vendor == facts.vendor else None
        try:
            found = _of_store(context, facts, which, here)
        except DBAPIError:
            raise
        except Exception as error:  # noqa: BLE001  whatever its files hold, the other stores are shown (I10)
            log.warning("products: store %s cannot be read: %s: %s", facts.vendor, type(error).__name__, error)
            gone.append(facts.vendor)
            continue
        room = most - len(rows)
        rows += with_names(context, facts.vendor, found.slice(0, room).to_pylist())
        if found.num_rows > room:
            last = rows[-1] if room else None
            return ended(Behind(facts.vendor, (last and last["sku"]) or "", -1 if last is None else last["row"]))
    return ended(None)


def every_part(context: Context, which: Which, *, most: int) -> Iterator[list[dict[str, Any]]]:
    """All rows, a store after the other, at most so many at a time. DataError, before the first row: a file of a store is gone."""
    stores = _stores(context, which, None)
    if stores.unread:
        raise DataError(
            f"products: the files of {some_of(stores.unread)} cannot be read; the next run writes them again"
        )
    for facts in stores.known:
        if not _has_files(context, facts):
            raise DataError(f"products: a file of store {facts.vendor} is gone; its next run writes it again")
    for facts in stores.known:
        for batch in _of_store(context, facts, which, None).to_batches(most):
            yield batch.to_pylist()


def _has_files(context: Context, facts: Facts) -> bool:
    paths = (facts.snapshot_path, facts.baseline_path, facts.quarantine_path, facts.suppressed_path)
    every = (*paths, *facts.in_flight, *facts.planned, *facts.held)
    return all(context.lake.exists(path) for path in every if path is not None)


@dataclass(frozen=True)
class _Stores:
    """`known`: those that have rows of this kind, by name, from the one on that has the row behind which the part begins. `unread`: those
    without numbers, whose files cannot be read. `numbers`: of all groups.
    """

    known: list[Facts]
    unread: list[str]
    numbers: dict[str, int]


def _stores(context: Context, which: Which, behind: Behind | None) -> _Stores:
    every = with_facts(context, None if which.vendor is None else [which.vendor])
    every.sort(key=lambda one: one[0].vendor)
    counted = [found for _, found in every if found is not None]
    return _Stores(
        [
            facts
            for facts, found in every
            if found is not None and _of(found, which.state) and (behind is None or facts.vendor >= behind.vendor)
        ],
        [facts.vendor for facts, found in every if found is None],
        {group: sum(_of(found, group) for found in counted) for group in GROUPS},
    )


def _without_vain_questions(connection: Connection, stores: list[Facts], which: Which) -> list[Facts]:
    """The facts of stores; if few SKUs are asked for, one question names the stores that reject one of them, so the others are not asked."""
    if not which.sku:
        return stores
    rejecting = vendor_counts.rejecting(connection, [facts.vendor for facts in stores], which.sku)
    return [facts if facts.vendor in rejecting else facts._replace(rejections=None) for facts in stores]


def _of(counted: Counts, state: str | None) -> int:
    return sum(getattr(counted, name) for name in ((state,) if state in BY_ERP else _columns(state)))


def _columns(state: str | None) -> tuple[str, ...]:
    """The columns of catalog.sku_state that a state names. DataError: none has this name."""
    if state in COUNTED:
        return (state,)
    if state is not None and state not in (*GROUPS, *BY_ERP):
        raise DataError(f"products: {state!r} is no state. Choose one of {', '.join(GROUPS)}")
    return COUNTED if state is None or state in BY_ERP else GROUPS[state]


def _of_store(context: Context, facts: Facts, which: Which, behind: Behind | None) -> pa.Table:
    """The rows of one store behind a row, in order: COLUMNS and `row`."""
    begin = which.sku or ""
    held = products(context, facts, begin)
    wanted = pa.array(_columns(which.state))
    stated = held.stated.filter(pc.is_in(held.stated["state"], value_set=wanted))
    out = held.quarantined
    if which.state in BY_ERP:
        has_row = pc.is_in(stated["sku"], value_set=column(held.snapshot, "sku"))
        stated = stated.filter(has_row if which.state == "erp_rows" else pc.invert(has_row))
    if which.category:
        of_category = pa.array(skus_of_category(context, facts.vendor, which.category), pa.string())
        stated, out = (table.filter(pc.is_in(table["sku"], value_set=of_category)) for table in (stated, out))
    if which.sku:
        stated = stated.filter(pc.starts_with(stated["sku"], which.sku))
    skus = column(stated, "sku")
    rejected = pc.starts_with(stated["state"], "rejected").to_pylist()
    reasons: dict[str, str] = {}
    if any(rejected):
        with context.engine.connect() as connection:
            reasons = rejections.reasons(connection, facts.vendor, begin)
    known = _joined(held.snapshot, skus), _joined(held.baseline, skus)
    rows = pa.table(
        {
            "sku": skus,
            "state": stated["state"],
            "price": known[0]["price"],
            "price_on_platform": known[1]["price"],
            "active": known[0]["active"],
            "active_on_platform": known[1]["active"],
            "barcode": pc.coalesce(column(known[0], "barcode"), column(known[1], "barcode")),
            "reason": pa.array(
                [
                    reasons.get(sku) if is_rejected else None
                    for sku, is_rejected in zip(skus.to_pylist(), rejected, strict=True)
                ],
                pa.string(),
            ),
            "row": pa.repeat(pa.scalar(0, pa.int64()), len(skus)),
        }
    )
    if "quarantined" in wanted.to_pylist() and which.state != "not_in_erp":
        unsent = {"sku": out["sku"], "reason": out["message"], "row": out["row_number"]}
        unsent["state"] = pa.repeat("quarantined", out.num_rows)
        rows = pa.concat_tables([rows, pa.table(unsent)], promote_options="default")
    rows = rows.append_column("vendor", pa.repeat(facts.vendor, rows.num_rows))
    order = pc.fill_null(column(rows, "sku"), "")
    keep = pc.starts_with(order, which.sku) if which.sku else pa.repeat(pa.scalar(value=True), rows.num_rows)
    rows = rows.append_column("order", order).filter(keep)
    found = _sorted(rows, which.order)
    if behind is not None:
        found = found.slice(_rows_before(found, behind, which.order))
    return found.select([*COLUMNS, "row"])


def _rows_before(found: pa.Table, behind: Behind, order: str) -> int:
    """How many of the sorted rows come up to this one. If it is gone and they are not sorted by SKU, its place is not known: none."""
    at_sku = pc.equal(found["order"], behind.sku)
    if order == ORDERS[0]:
        had = pc.or_(pc.less(found["order"], behind.sku), pc.and_(at_sku, pc.less_equal(found["row"], behind.row)))
        return int(pc.sum(had).as_py() or 0)
    return 1 + int(pc.index(pc.and_(at_sku, pc.equal(found["row"], behind.row)), value=True).as_py())


def _sorted(rows: pa.Table, order: str) -> pa.Table:
    by_sku = [("order", "ascending"), ("row", "ascending")]
    if order == "highest price":
        return rows.sort_by([("price", "descending"), *by_sku])
    if order == "largest difference":
        far = pc.abs(pc.subtract(rows["price"], rows["price_on_platform"]))
        return rows.append_column("far", far).sort_by([("far", "descending"), *by_sku])
    return rows.sort_by(by_sku)


def _joined(table: pa.Table, skus: pa.Array) -> pa.Table:
    """The rows of these SKUs in their order; null where the table has none."""
    return table.take(pc.index_in(skus, value_set=column(table, "sku")))
