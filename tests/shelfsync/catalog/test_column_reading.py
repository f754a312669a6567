"""What was understood of the ERP's columns: the same whatever the parts in which they were read, and true of every row."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.catalog.column_reading import ColumnReadings
from shelfsync.erp.number_notation import Notation

NOTATION = Notation(decimal_mark=",", thousands_mark=".", null_words=("NULL",))

numbers = st.decimals(0, 99_999, places=2).map(lambda value: f"{value:,.2f}".translate(str.maketrans(",.", ".,")))
cells = st.lists(st.one_of(numbers, st.sampled_from(["", "NULL", "ask", "1.5", None])), max_size=30)


def look(parts):
    found = ColumnReadings()
    for part in parts:
        written = pa.array(part, pa.string())
        found.look("price", "Preis", written, NOTATION.plain("price", written, True), NOTATION.sentence())
    return found.rows()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cells, st.integers(0, 30))
def test_numbers_have_one_reading_in_any_parts(column, cut):
    [one] = look([column[:cut], column[cut:]])
    good = [
        Decimal(cell.replace(".", "").replace(",", "."))
        for cell in column
        if cell and cell not in {"NULL", "ask", "1.5"}
    ]
    assert one.rows == len(column)
    assert one.empty == sum(cell in {"", "NULL", None} for cell in column)
    assert one.not_read == sum(cell in {"ask", "1.5"} for cell in column)
    assert one.rows == one.empty + one.not_read + len(good)
    if good:
        assert (Decimal(one.smallest), Decimal(one.largest)) == (min(good), max(good))
        assert Decimal(one.cell.replace(".", "").replace(",", ".")) == Decimal(one.value)
        assert one.style == "decimal mark ,, thousands mark ."
    else:
        assert (one.cell, one.smallest, one.largest) == (None, None, None)


def test_texts_and_truth_values():
    found = ColumnReadings()
    for name, column in {
        "sku": ["0100", " ", None, "0042"],
        "active": ["1", "no", "perhaps", ""],
        "quantity": ["-3", "0.75", "12", "1E+2"],
    }.items():
        part = pa.array(column, pa.string())
        found.look(name, name.upper(), part, part, None)
    by_name = {one.column: one for one in found.rows()}
    sku, active, quantity = by_name["sku"], by_name["active"], by_name["quantity"]
    assert (sku.cell, sku.smallest, sku.largest, sku.empty, sku.not_read) == ("0100", "0042", "0100", 2, 0)
    assert (active.smallest, active.largest, active.empty, active.not_read) == ("false", "true", 1, 1)
    assert (quantity.smallest, quantity.largest, quantity.cell, quantity.value) == ("-3", "100", "0.75", "0.75")
    assert list(by_name) == ["sku", "quantity", "active"]
