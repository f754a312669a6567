"""Guards over products: prices, quantities, and SKUs that go off sale.

A held price holds only the price: a sold-out product still goes off sale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.guards.case import PRICE_FIELDS, STOCK_FIELDS, Finding, count, judged, over

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.guards.case import Case

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
