"""Guards over prices. Only the price is held: that a product is sold out still goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.guards.case import PRICE_FIELDS, Finding, judged

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
    """A price is about ten, a hundred or a thousand times what it was, or that part of it: a comma read as thousands, a slip of a key."""
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
    """A price leaps so far that it looks like a slip, or more prices move far than a day brings."""
    limit = case.limits.limit("price_change", case.vendor)
    leaps = _moved(case, limit.leap) if limit.on else pa.repeat(pa.scalar(False), case.delta.num_rows)
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
    """Very many prices move at once, by however little: a currency, a tax, a price list of somebody else."""
    rows = pc.not_equal(case.price_ratio, 1.0).fill_null(False)
    yield from judged(case, "mass_repricing", rows, case.priced, "get another price", PRICE_FIELDS)


def below_cost(case: Case) -> Iterator[Finding]:
    """A new price is below what the product costs."""
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
