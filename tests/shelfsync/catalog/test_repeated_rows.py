"""Rows of one SKU that are equal in every value count once; if they differ, all are quarantined."""

from __future__ import annotations

import pytest

from catalog_rows import normalised


def reasons(result):
    return {row["row_number"]: row["reason"] for row in result.quarantine.to_pylist()}


def test_two_keys_that_padding_makes_one_are_never_merged():
    result = normalised({"sku": "A1", "price": "1"}, {"sku": "A1 ", "price": "2"}, {"sku": "B2"})
    assert reasons(result) == {1: "sku_duplicate", 2: "sku_duplicate"}
    assert result.snapshot["sku"].to_pylist() == ["B2"]


def test_rows_that_contradict_each_other_are_all_quarantined():
    result = normalised({"sku": "A1", "price": "1"}, {"sku": "A1", "price": "1"}, {"sku": "A1", "price": "no"})
    assert reasons(result) == dict.fromkeys((1, 3), "sku_duplicate")
    assert (result.snapshot.num_rows, result.repeated) == (0, 1)


def test_equal_rows_of_one_sku_are_one_row():
    row = {"sku": "A1", "barcode": "96385074", "price": "1.50", "quantity": "3", "active": "yes", "cost": "1"}
    result = normalised(row, {"sku": "B2"}, {**row, "price": "1.5", "active": "1"}, row)
    assert result.snapshot["sku"].to_pylist() == ["A1", "B2"]
    assert (result.repeated, result.quarantine.num_rows) == (2, 0)


def test_of_equal_rows_with_a_faulty_value_one_is_reported():
    row = {"sku": "A1", "price": "ask", "max_sales_quantity": "-1"}
    result = normalised(row, row)
    assert reasons(result) == {1: "price_not_a_number"}
    assert result.repeated == 1
    assert reasons(normalised(row, {**row, "price": "?"})) == dict.fromkeys((1, 2), "sku_duplicate")


@pytest.mark.parametrize(
    ("column", "other"),
    [("barcode", "12345670"), ("price", "2"), ("quantity", "0.9"), ("active", "0"), ("category", "b"), ("cost", "9")],
)
def test_rows_of_one_sku_that_differ_in_one_value_are_no_equal_rows(column, other):
    row = dict.fromkeys(("barcode", "price", "quantity", "active", "category", "cost")) | {"sku": "A1", "quantity": "0"}
    assert reasons(normalised(row, {**row, column: other})) == dict.fromkeys((1, 2), "sku_duplicate")


def test_equal_rows_are_no_barcode_on_two_skus():
    row = {"sku": "A1", "barcode": "96385074", "price": "1"}
    result = normalised(row, row, key="barcode")
    assert (result.snapshot.num_rows, result.repeated, result.quarantine.num_rows) == (1, 1, 0)


def test_two_keys_that_padding_makes_one_are_never_merged_though_their_values_agree():
    assert reasons(normalised({"sku": "A1"}, {"sku": "A1 "})) == {1: "sku_duplicate", 2: "sku_duplicate"}
