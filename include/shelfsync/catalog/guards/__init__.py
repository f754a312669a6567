"""The guards: each is a small pure function that finds the rows of a delta that look like an accident, and why.

A guard gets a `Case` and yields `Finding`s. The guards run in the order of `GUARDS`, so that a person reads the most informative reason: a
repeated file before the removals that it causes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.guards import feed, product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.catalog.guards.case import Case, Finding

GUARDS: dict[str, Callable[[Case], Iterator[Finding]]] = {
    "duplicate_feed": feed.duplicate_feed,
    "empty_feed": feed.empty_feed,
    "shrunken_extract": feed.shrunken_extract,
    "mass_removal": product.mass_removal,
    "vanished_category": product.vanished_category,
    "mass_deactivation": product.mass_deactivation,
    "zero_stock": product.zero_stock,
    "zero_price": product.zero_price,
    "shifted_decimal": product.shifted_decimal,
    "price_change": product.price_change,
    "mass_repricing": product.mass_repricing,
    "below_cost": product.below_cost,
    "new_skus": feed.new_skus,
}
