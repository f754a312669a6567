"""A store's stock that becomes zero, or less than its sales buffer."""

from __future__ import annotations

import pytest

from guard_cases import BEFORE, GOOD, reasons, split, store
from shelfsync.settings import GuardSettings


def test_zero_stock_over_the_store_is_held_and_prices_go():
    now = store(range(1000), quantity=lambda number: 0 if number < 400 else 10, price="2.10")
    verdict = split(now, BEFORE, limits=GuardSettings(mass_repricing={"enabled": False}))
    assert reasons(verdict) == {"zero_stock": 400}
    assert verdict.released.num_rows == 1000
    assert verdict.released["quantity"].null_count == 1000


@pytest.mark.parametrize(
    ("quantity", "at_buffer", "held"),
    [
        (1, "activates", {"empty_feed": 1000}),
        (3, "activates", {}),
        (3, "deactivates", {"empty_feed": 1000}),
        (4, "deactivates", {}),
    ],
)
def test_stock_below_the_sales_buffer_is_no_stock(quantity, at_buffer, held):
    before = store(range(1000), sales_buffer=3)
    now = store(range(1000), sales_buffer=3, quantity=quantity)
    assert reasons(split(now, before, at_buffer=at_buffer)) == held
    options = {"at_buffer": at_buffer, "limits": GuardSettings(vanished_category={"enabled": False})}
    assert reasons(split(now | {"T": GOOD}, before, **options)) == (held and {"zero_stock": 1000})


def test_what_was_below_its_sales_buffer_already_does_not_sell_out():
    before = store(range(1000), sales_buffer=3, quantity=lambda number: 10 if number < 100 else 1)
    now = store(range(1000), sales_buffer=3, quantity=lambda number: 10 if number < 50 else 0)
    assert reasons(split(now, before)) == {"zero_stock": 50}, "half of the hundred that were in stock"
    with_buffer = store(range(1000), sales_buffer=3, quantity=lambda number: 2 if number < 500 else 10)
    before = store(range(1000), quantity=lambda number: 1 if number < 500 else 10)
    assert reasons(split(with_buffer, before)) == {}, "the buffer is new, the products were off before"


def test_what_sells_out_in_a_quarter_of_an_hour_flows():
    assert reasons(split(BEFORE | store(range(60), quantity=0), BEFORE)) == {}
