"""A sales limit is a whole number of at least one."""

from __future__ import annotations

import pytest

from catalog_rows import normalised, value_or_reason


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0", "max_sales_quantity_zero"),
        ("12.0", 12),
        ("2147483647", 2147483647),
        ("-1", "max_sales_quantity_negative"),
        ("1.5", "max_sales_quantity_not_whole"),
        ("2147483648", "max_sales_quantity_too_large"),
        ("many", "max_sales_quantity_not_a_number"),
        ("1,5", "max_sales_quantity_decimal_comma"),
    ],
)
def test_a_sales_limit_is_a_whole_number(text, found):
    assert value_or_reason("max_sales_quantity", text) == found


def test_a_limit_of_zero_may_mean_off_sale():
    row = {"sku": "A1", "price": "2.49", "quantity": "5", "active": "1", "max_sales_quantity": "0"}
    [value] = normalised(row, sales_limit_zero="off_sale").snapshot.to_pylist()
    assert (value["active"], value["max_sales_quantity"]) == (False, None)
