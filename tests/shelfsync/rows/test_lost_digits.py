"""A key that lost digits is no SKU."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import raw
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.rows.resembled_sku import Known
from shelfsync.settings import NormaliseSettings


def read(*skus, known=()):
    acknowledged = pa.array(sorted(known, key=str.encode), pa.string())
    rows = raw(*({"sku": sku, "price": "1.99", "quantity": "3"} for sku in skus))
    return make_snapshot(rows, NormaliseSettings(), known=Known(acknowledged))


def test_rows_that_lost_the_same_digits_each_take_another_sku():
    known = ("4006381333931", "4006381333948")
    quarantine = read("4.00638E+12", "4.00638E+12", known=known).quarantine
    assert sorted(quarantine["sku"].to_pylist()) == sorted(known)


@pytest.mark.parametrize("sku", ["4.00638E+12", "4,00638E+12", "4E+12", "1.234567890123457e+19"])
def test_a_key_that_lost_digits_is_no_sku_even_if_none_resembles_it(sku):
    assert read(sku, known=()).quarantine["reason"].to_pylist() == ["sku_as_float"]
    assert read(sku, known=("5",)).quarantine["reason"].to_pylist() == ["sku_as_float"]
    assert read(sku, known=(sku,)).quarantine.num_rows == 0


def test_a_code_with_an_e_in_it_is_one():
    assert read("12E5", "4E12", "E+12", known=()).quarantine.num_rows == 0
