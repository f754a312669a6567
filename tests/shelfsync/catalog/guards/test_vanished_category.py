"""A category that goes off sale as a whole."""

from __future__ import annotations

import pytest

from guard_cases import BEFORE, CATEGORIES, GOOD, reasons, split, store


def test_a_category_that_vanishes_is_held_and_the_rest_flows():
    now = {sku: row for sku, row in BEFORE.items() if row["category"] != "dairy"} | {
        "S0001": {**GOOD, "price": "2.10", "category": CATEGORIES[1]}
    }
    verdict = split(now, BEFORE)
    assert reasons(verdict) == {"vanished_category dairy": 200}
    assert verdict.released["sku"].to_pylist() == ["S0001"]


@pytest.mark.parametrize("how", [{"active": False}, {"quantity": 0}])
def test_a_category_may_vanish_by_being_switched_off_or_sold_out(how):
    now = BEFORE | {sku: {**row, **how} for sku, row in BEFORE.items() if row["category"] == "drinks"}
    assert reasons(split(now, BEFORE)) == {"vanished_category drinks": 200}


def test_what_was_sold_out_already_is_no_part_of_a_category_that_vanishes():
    before = store(range(500), quantity=lambda number: 0 if number % 2 else 10)  # 100 drinks, 50 of them on sale
    off = {sku: {**row, "active": False} for sku, row in before.items() if row["category"] == "drinks"}
    unseen = {sku: row for sku, row in off.items() if row["quantity"] == 0}
    assert reasons(split(before | unseen, before)) == {}, "no customer sees a difference"
    verdict = split(before | off, before)
    assert reasons(verdict) == {"vanished_category drinks": 100}, "switched off together, held together"
    (held,) = verdict.held_changes
    assert held.message.startswith("category drinks: 50 of 50 SKUs on sale go off at once")


def test_without_categories_nothing_vanishes():
    before = store(range(1000), category=None)
    now = {sku: row for sku, row in before.items() if int(sku[1:]) % 5}
    assert reasons(split(now, before)) == {}


def test_a_category_that_falls_below_its_sales_buffer_has_vanished():
    before = store(range(1000), sales_buffer=3)
    sweets = {sku: {**row, "quantity": 2} for sku, row in before.items() if row["category"] == "sweets"}
    assert reasons(split(before | sweets, before)) == {"vanished_category sweets": 200}
