"""A price of zero."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store


def test_one_price_of_zero_is_held():
    assert reasons(split(BEFORE | store(range(1), price="0"), BEFORE)) == {"zero_price": 1}
    assert reasons(split(store(range(9), price="0"), store(range(9), price="0"), full=True)) == {}, "it is zero already"
