"""Pieces are whole and not below zero, or quarantined."""

from __future__ import annotations

from catalog_rows import value_or_reason


def quantity(text, **settings):
    return value_or_reason("quantity", text, **settings)


def test_stock_of_weighed_goods_is_floored():
    assert quantity("3.999") == 3
    assert quantity("3.000") == 3
    assert quantity("0.4") == 0


def test_stock_of_weighed_goods_can_be_quarantined():
    assert quantity("3.4", quantity_rounding="quarantine") == "quantity_not_whole"
    assert quantity("3.0004", quantity_rounding="quarantine") == "quantity_not_whole"
    assert quantity("1e-9", quantity_rounding="quarantine") == "quantity_not_whole"
    assert quantity("3.000", quantity_rounding="quarantine") == 3


def test_negative_stock_is_nothing_to_sell():
    assert quantity("-2") == 0
    assert quantity("-0.5") == 0
    assert quantity("-99999999999999999999") == 0
    assert quantity("-2.5", quantity_rounding="quarantine") == 0


def test_negative_stock_can_be_quarantined():
    assert quantity("-2", negative_quantity="quarantine") == "quantity_negative"
    assert quantity("-0.5", negative_quantity="quarantine") == "quantity_negative"
    assert quantity("-0", negative_quantity="quarantine") == 0


def test_stock_beyond_32_bits_is_quarantined_not_wrapped():
    assert quantity("2147483647.9") == 2147483647
    assert quantity("2147483648") == "quantity_too_large"
    assert quantity("1E+2") == 100
    assert quantity("18446744073709551617") == "quantity_too_large"
