"""A faulty value costs its row as little as can be."""

from __future__ import annotations

from decimal import Decimal

import pytest

from catalog_rows import normalised

SOLD_OUT = {"sku": "A1", "price": "2.49", "quantity": "0", "active": "1"}


def sent(**row):
    """What is sent of one row besides a good one, and what is left out of it."""
    result = normalised({"sku": "A1", **row}, {"sku": "B1", "price": "1", "quantity": "1"})
    found = {value["sku"]: value for value in result.snapshot.to_pylist()}.get("A1", {})
    kept = {name: value for name, value in found.items() if value is not None and name != "sku"}
    return kept, {fault["field"] for fault in result.quarantine.to_pylist() if fault["row_sent"]}


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "99999999999", "many", "NaN", "-0", "0.0"])
def test_a_sales_limit_that_cannot_be_sent_stops_neither_price_nor_stop_sell(limit):
    values, left_out = sent(**SOLD_OUT, max_sales_quantity=limit)
    assert values == {"price": Decimal("2.49"), "quantity": 0, "active": True}
    assert left_out == {"max_sales_quantity"}


@pytest.mark.parametrize("text", ["N/A", "40063X1", "4.0E+12", "123456789012345", "-", "\u0661\u0662"])
def test_a_barcode_that_identifies_nothing_is_left_out(text):
    values, left_out = sent(**SOLD_OUT, barcode=text)
    assert (values["quantity"], values["price"], left_out) == (0, Decimal("2.49"), {"barcode"})


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ({"price": "n/a", "quantity": "0", "active": "1"}, {"quantity": 0}),
        ({"price": "n/a", "quantity": "-3", "active": "1"}, {"quantity": 0}),
        ({"price": "-1", "quantity": "5", "active": "N"}, {"active": False}),
        ({"price": "n/a", "quantity": "5", "active": "1"}, {}),
        ({"price": "n/a", "quantity": "0.99", "active": "1"}, {}),
        ({"price": "2.49", "quantity": "n/a", "active": "1"}, {"price": Decimal("2.49")}),
        ({"price": "2.49", "quantity": "n/a", "active": "0"}, {"price": Decimal("2.49"), "active": False}),
        ({"price": "2.49", "quantity": "5", "active": "perhaps"}, {"price": Decimal("2.49")}),
        ({"price": "2.49", "quantity": "0", "active": "perhaps"}, {"price": Decimal("2.49"), "quantity": 0}),
        ({"price": "x", "quantity": "x", "active": "0"}, {"active": False}),
    ],
)
def test_of_a_doubtful_row_only_what_cannot_put_it_on_sale_is_sent(row, kept):
    assert sent(**row)[0] == kept


def test_a_vendor_without_a_whole_row_is_known():
    assert normalised({"sku": "A1", "price": "x", "quantity": "0"}).rows_whole == 0
    assert normalised({"sku": "A1", "price": "x", "quantity": "0"}, {"sku": "B1", "price": "1"}).rows_whole == 1
    assert normalised({"sku": "A1", "price": "1", "max_sales_quantity": "0"}).rows_whole == 1
