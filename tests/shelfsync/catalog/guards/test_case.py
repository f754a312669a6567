"""What a guard sees of a delta."""

from __future__ import annotations

from guard_cases import GOOD, case, store


def test_a_row_that_was_off_already_does_not_go_off():
    before = {"a": GOOD, "b": {**GOOD, "active": False}}
    one = case({"a": {**GOOD, "active": False}, "b": {**GOOD, "active": False}}, before, full=True)
    assert dict(zip(one.skus.to_pylist(), one.going_off.to_pylist(), strict=True)) == {"a": True, "b": False}


def test_a_price_of_zero_has_no_ratio():
    one = case({"a": {**GOOD, "price": "3.00"}, "b": {**GOOD, "price": "0"}}, {"a": GOOD, "b": GOOD})
    assert one.price_ratio.to_pylist() == [1.5, None]


def test_prices_of_skus_that_left_the_extract_are_not_counted():
    one = case(store(range(3)), store(range(5)))
    assert (one.priced.true_count, one.removed.true_count) == (3, 2)
