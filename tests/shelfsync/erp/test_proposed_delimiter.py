"""The table that the beginning of a text shows."""

from __future__ import annotations

import pytest

from shelfsync.erp.proposed_delimiter import DELIMITERS, shape_of


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_each_delimiter_is_found_by_the_rows_that_it_makes_equal(delimiter):
    rows = [["sku", "price", "quantity"], ["100001", "1.99", "7"], ["100002", "12.50", "0"], ["100003", "3.00", "12"]]
    shape = shape_of("".join(delimiter.join(row) + "\n" for row in rows), whole=True)
    assert (shape.delimiter, shape.width, shape.header, shape.share) == (delimiter, 3, 1, 1.0)
    assert shape.names == ("sku", "price", "quantity")
    assert [row for _, row in shape.rows] == rows[1:]


def test_the_names_below_a_title_are_found_and_again_in_the_middle():
    text = "Stock of store 1\n\nsku;price\n1;2,00\n2;3,00\nsku;price\n3;4,00\n"
    shape = shape_of(text, whole=True)
    assert (shape.delimiter, shape.header, shape.again) == (";", 3, 6)


def test_a_line_for_excel_is_no_row():
    shape = shape_of("sep=;\nsku;price\n1;2,00\n2;3,00\n", whole=True)
    assert (shape.sep_line, shape.header, len(shape.rows)) == (1, 2, 2)


def test_a_text_of_one_column_without_delimiters_has_no_shape():
    assert shape_of("once upon a time\nthere was a store\n", whole=True) is None
