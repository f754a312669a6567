"""Very many prices that change by little."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store


def test_a_currency_mixed_up_moves_every_price_by_little_and_is_held():
    assert reasons(split(store(range(1000), price="2.16"), BEFORE)) == {"mass_repricing": 1000}
