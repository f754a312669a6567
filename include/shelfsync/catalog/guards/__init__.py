"""The guards: each a small pure function that says which rows of a delta look like an accident, and why.

A guard gets a `Case` and yields `Finding`s. They are asked in the order of `GUARDS`, so that the reason a person reads is the one that
says most: a repeated file before the removals it brings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.guards import absence, feed, price, stock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.catalog.guards.case import Case, Finding

GUARDS: dict[str, Callable[[Case], Iterator[Finding]]] = {
    "duplicate_feed": feed.duplicate_feed,
    "empty_feed": feed.empty_feed,
    "shrunken_extract": feed.shrunken_extract,
    "mass_removal": absence.mass_removal,
    "vanished_category": absence.vanished_category,
    "mass_deactivation": absence.mass_deactivation,
    "zero_stock": stock.zero_stock,
    "zero_price": price.zero_price,
    "shifted_decimal": price.shifted_decimal,
    "price_change": price.price_change,
    "mass_repricing": price.mass_repricing,
    "below_cost": price.below_cost,
    "new_skus": feed.new_skus,
}
