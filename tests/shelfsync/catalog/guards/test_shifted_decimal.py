"""A price whose decimal point has slipped."""

from __future__ import annotations

import pytest

from guard_cases import BEFORE, reasons, split, store


@pytest.mark.parametrize("price", ["20.00", "0.20", "200.00", "0.02", "18.90", "2000.00"])
def test_one_price_whose_point_has_slipped_is_held(price):
    assert reasons(split(BEFORE | store(range(1), price=price), BEFORE)) == {"shifted_decimal": 1}


@pytest.mark.parametrize("price", ["1.00", "3.50", "2.70", "16.00", "0.26"])
def test_one_price_that_moves_far_but_not_absurdly_flows(price):
    assert reasons(split(BEFORE | store(range(1), price=price), BEFORE)) == {}
