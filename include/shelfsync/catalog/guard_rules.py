"""The guards: each finds the rows of a delta that look like an accident, and why.

A guard is a small pure function. It gets a `Case` and yields `Finding`s. The guards run in the order of `GUARDS`, so that a person reads
the most informative reason: a repeated file before the removals that it causes.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guard_case import PRICE_FIELDS, STOCK_FIELDS, Finding, count
from shelfsync.catalog.guard_thresholds import judged, over
from shelfsync.catalog.sold_out import sold_out
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import DELTA, FIELDS, completed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.catalog.guard_case import Case


_FEEDS_MIN = 3
"""With fewer earlier extracts the usual number of rows is unknown."""


def changed_columns(case: Case) -> Iterator[Finding]:
    """The ERP's columns are other ones, and the operator wants to see what comes with them."""
    if not case.history.columns:
        return
    everything = pa.repeat(pa.scalar(True), case.baseline.num_rows)
    what = f"differ and the ERP's columns have changed ({'; '.join(case.history.columns)})"
    yield from judged(case, "changed_columns", case.moving, everything, what)


def duplicate_feed(case: Case) -> Iterator[Finding]:
    """Yesterday's file again: an extract that equals one from before the last one in every value.

    A revert of a change that a person approved since then passes: a store that was closed opens again with the stock it had.
    """
    if case.history.repeats is None:
        return
    rows = pc.and_(pc.not_equal(column(case.delta, "change"), "same"), case.moving)
    undone = pc.is_in(case.skus, value_set=pa.array(sorted(case.history.undone), pa.string()))
    rows = pc.and_(rows, pc.invert(undone))
    everything = pa.repeat(pa.scalar(True), case.baseline.num_rows)
    what = f"differ and the extract is to the last value the one of {case.history.repeats}, from before the last one"
    yield from judged(case, "duplicate_feed", rows, everything, what)


def empty_feed(case: Case) -> Iterator[Finding]:
    """An extract that leaves nothing on sale."""
    active = column(case.snapshot, "active").fill_null(True)
    if pc.any(pc.and_(active, pc.invert(_sold_out(case)))).as_py():
        return
    rows = pc.or_(case.going_off, case.selling_out)
    what = "go off sale, and the extract leaves nothing on sale"
    yield from judged(case, "empty_feed", rows, case.on_sale, what, STOCK_FIELDS)


def _sold_out(case: Case) -> pa.Array:
    """Rows of the snapshot with too little stock to be sold, by the delta's buffer or, without a quantity in the delta, the last known one."""
    skus = column(case.snapshot, "sku")
    last_buffer = aligned(case.reference, skus, ["sales_buffer"])["sales_buffer"]
    delta = completed(case.delta, DELTA)
    sent = aligned(delta, skus, ["quantity", "sales_buffer"])
    buffer = pc.if_else(sent["quantity"].is_valid(), sent["sales_buffer"], last_buffer)
    return sold_out(column(case.snapshot, "quantity"), buffer, case.at_buffer)


def shrunken_extract(case: Case) -> Iterator[Finding]:
    """Far fewer rows than the last extracts: the missing SKUs may still be in the ERP."""
    if len(case.history.rows) < _FEEDS_MIN or not pc.any(case.removed).as_py():
        return
    usual = min(
        int(median(case.history.rows)), case.history.rows[0]
    )  # after an approval the smaller number is the usual one
    limit = case.limits.limit("shrunken_extract", case.vendor)
    if over("shrunken_extract", limit, usual - case.extract_rows, usual):
        message = (
            f"the extract has {case.extract_rows} rows, {usual} were usual; {count(case.removed)} SKUs that are missing"
            " wait for a person (SHELFSYNC_GUARDS__SHRUNKEN_EXTRACT__MAX_ROWS and __MAX_SHARE)"
        )
        yield Finding(case.removed, "shrunken_extract", message, limit.model_dump())


def new_skus(case: Case) -> Iterator[Finding]:
    """Many unknown SKUs: another store's range, codes that were renumbered.

    Declined new SKUs are held again if their price changes, however few they are.
    """
    if case.baseline.num_rows == 0 or case.history.first:
        return  # the first sync
    again = None if case.unwanted is None else case.undecided(case.unwanted, FIELDS)
    limit = case.limits.limit("new_skus", case.vendor)
    if limit.enabled and again is not None and pc.any(again).as_py():
        message = f"{count(again)} declined new SKUs have another price now; they wait for a person again"
        yield Finding(again, "new_skus", message, limit.model_dump())
    rows = pc.equal(column(case.delta, "change"), "new")
    everything = pa.repeat(pa.scalar(True), case.baseline.num_rows)
    yield from judged(case, "new_skus", rows, everything, "are new")


_SHIFTS = (10.0, 100.0, 1000.0)


def zero_price(case: Case) -> Iterator[Finding]:
    """A price becomes zero."""
    price = column(case.delta, "price")
    zero = pc.equal(price, pa.scalar(0, price.type)).fill_null(False)
    was = pc.equal(case.before["price"], pa.scalar(0, price.type)).fill_null(False)
    yield from judged(
        case, "zero_price", pc.and_(zero, pc.invert(was)), case.priced, "get the price zero", PRICE_FIELDS
    )


def shifted_decimal(case: Case) -> Iterator[Finding]:
    """A price grew or fell by a factor of about ten, a hundred or a thousand. Typical causes: a comma read as thousands, a typing error."""
    limit = case.limits.limit("shifted_decimal", case.vendor)
    ratio = case.price_ratio
    up = pc.if_else(pc.less(ratio, 1.0), pc.divide(1.0, ratio), ratio)
    rows = pa.repeat(pa.scalar(False), len(ratio))
    for shift in _SHIFTS:
        near = pc.and_(pc.greater_equal(up, shift * (1 - limit.slack)), pc.less_equal(up, shift * (1 + limit.slack)))
        rows = pc.or_(rows, near.fill_null(False))
    what = "have a price as if its decimal point had slipped"
    yield from judged(case, "shifted_decimal", rows, case.priced, what, PRICE_FIELDS)


def price_change(case: Case) -> Iterator[Finding]:
    """A price changes so much that it looks like an error, or more prices change much than on a usual day."""
    limit = case.limits.limit("price_change", case.vendor)
    leaps = _moved(case, limit.leap) if limit.enabled else pa.repeat(pa.scalar(False), case.delta.num_rows)
    leaps = case.undecided(leaps, PRICE_FIELDS)
    if pc.any(leaps).as_py():
        message = (
            f"{pc.sum(leaps).as_py()} prices leap to more than {1 + limit.leap:g} times what they were, or to less than that part"
            " (SHELFSYNC_GUARDS__PRICE_CHANGE__LEAP)"
        )
        yield Finding(leaps, "price_change", message, limit.model_dump(), None, PRICE_FIELDS)
    rows = pc.and_(_moved(case, limit.move), pc.invert(leaps))
    what = f"have a price that moves by more than {limit.move:.0%}"
    yield from judged(case, "price_change", rows, case.priced, what, PRICE_FIELDS)


def mass_repricing(case: Case) -> Iterator[Finding]:
    """Very many prices change at once, even by little. Typical causes: a currency, a tax, another chain's price list."""
    rows = pc.not_equal(case.price_ratio, 1.0).fill_null(False)
    yield from judged(case, "mass_repricing", rows, case.priced, "get another price", PRICE_FIELDS)


def below_cost(case: Case) -> Iterator[Finding]:
    """A new price is below the product's cost."""
    if "cost" not in case.snapshot.column_names:  # a snapshot from before there was such a column
        return
    cost = aligned(case.snapshot, case.skus, ["cost"])["cost"]
    price = column(case.delta, "price")
    news = pc.coalesce(pc.not_equal(price, case.before["price"]), price.is_valid())
    rows = pc.and_(pc.less(price, cost).fill_null(False), news.fill_null(False))
    yield from judged(case, "below_cost", rows, case.priced, "get a price below their cost", PRICE_FIELDS)


def _moved(case: Case, share: float) -> pa.Array:
    """Rows whose price grows by more than the share, or falls as far: to less than 1 / (1 + share) for what can more than double."""
    ratio = case.price_ratio
    low = 1 - share if share < 1 else 1 / (1 + share)
    return pc.or_(pc.greater(ratio, 1 + share), pc.less(ratio, low)).fill_null(False)


def zero_stock(case: Case) -> Iterator[Finding]:
    """A store's stock becomes zero, or too little to be sold, over its breadth: stock-taking, a warehouse that was not joined."""
    was_on = pc.invert(pc.equal(case.before["active"], False).fill_null(False))
    rows = pc.and_(case.selling_out, was_on)
    known = column(case.reference, "quantity").is_valid()
    in_stock = pc.and_(case.on_sale, pc.and_(known, pc.invert(case.sold_out_before)))
    what = "in stock have none any more, or less than their sales buffer"
    yield from judged(case, "zero_stock", rows, in_stock, what, STOCK_FIELDS)


def mass_removal(case: Case) -> Iterator[Finding]:
    """Many SKUs left the extract at once. Typical causes: a truncated file, a filter that excludes more."""
    yield from judged(case, "mass_removal", case.removed, case.on_sale, "on sale are missing from the extract")


def mass_deactivation(case: Case) -> Iterator[Finding]:
    """Many SKUs go off sale at once, switched off or missing, counted together."""
    yield from judged(case, "mass_deactivation", case.going_off, case.on_sale, "on sale are switched off", STOCK_FIELDS)


def vanished_category(case: Case) -> Iterator[Finding]:
    """A whole category goes off sale: removed, switched off or without stock. Sold-out SKUs are held with it, but do not trip the guard."""
    off = case.undecided(pc.or_(case.going_off, case.selling_out), STOCK_FIELDS)
    if not pc.any(off).as_py():
        return
    lost = pc.value_counts(case.category.filter(off).drop_null()).to_pylist()
    sold = pc.and_(case.on_sale, pc.invert(case.sold_out_before))
    for found in sorted(lost, key=lambda one: str(one["values"])):
        category = found["values"]
        limit = case.limits.limit("vanished_category", case.vendor, category)
        rows = pc.and_(off, pc.equal(case.category, category).fill_null(False))
        seen = count(pc.and_(rows, pc.invert(case.was_sold_out)))
        everything = count(pc.and_(sold, pc.equal(case.category_before, category).fill_null(False)))
        if over("vanished_category", limit, seen, everything):
            message = f"category {category}: {seen} of {everything} SKUs on sale go off at once, as if the whole category were gone"
            yield Finding(rows, "vanished_category", message, limit.model_dump(), category, STOCK_FIELDS)


GUARDS: dict[str, Callable[[Case], Iterator[Finding]]] = {
    "changed_columns": changed_columns,
    "duplicate_feed": duplicate_feed,
    "empty_feed": empty_feed,
    "shrunken_extract": shrunken_extract,
    "mass_removal": mass_removal,
    "vanished_category": vanished_category,
    "mass_deactivation": mass_deactivation,
    "zero_stock": zero_stock,
    "zero_price": zero_price,
    "shifted_decimal": shifted_decimal,
    "price_change": price_change,
    "mass_repricing": mass_repricing,
    "below_cost": below_cost,
    "new_skus": new_skus,
}
