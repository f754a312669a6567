"""A price that leaps, and many that move far."""

from __future__ import annotations

import pytest

from guard_cases import BEFORE, reasons, split, store


@pytest.mark.parametrize("price", ["16.01", "0.24", "60.00"])
def test_one_price_that_leaps_is_held(price):
    assert reasons(split(BEFORE | store(range(1), price=price), BEFORE)) == {"price_change": 1}


def test_many_prices_that_move_by_more_than_35_percent_are_held_and_those_that_move_less_go():
    now = BEFORE | store(range(21), price="1.20") | store(range(100, 150), price="1.40")
    verdict = split(now, BEFORE)
    assert reasons(verdict) == {"price_change": 21}
    assert verdict.released.num_rows == 50
    assert reasons(split(BEFORE | store(range(20), price="1.20"), BEFORE)) == {}
