"""A price below the product's cost."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store


def test_a_price_below_cost_is_held_once_and_no_more_when_it_is_acknowledged():
    now = BEFORE | store(range(1), price="1.40", cost="1.50")
    assert reasons(split(now, BEFORE)) == {"below_cost": 1}
    assert reasons(split(now, now, full=True)) == {}
    assert reasons(split(BEFORE | store(range(1), price="1.40", cost=None), BEFORE)) == {}
    (first,) = split(store(range(1), price="1.40", cost="1.50"), {}).held_changes
    assert first.message.startswith("1 SKUs get a price below their cost"), "of no SKU: there is nothing before it"
