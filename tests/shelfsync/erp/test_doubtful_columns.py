"""Columns that are probably swapped, in another encoding or with another mark are named with their setting; right ones are not."""

from __future__ import annotations

import pytest

from catalog_rows import raw
from shelfsync.erp.doubtful_columns import lines
from shelfsync.settings import ErpSettings

CODE, OTHER = "4006381333931", "3017620422003"


@pytest.mark.parametrize(
    ("rows", "given", "told"),
    [
        ([{"vendor": vendor, "sku": "s1"} for vendor in "789"], {}, "vendor has another value in each"),
        ([{"price": "10", "quantity": "1.89"}, {"price": "3", "quantity": "2.5"}], {}, "every price is whole ('10')"),
        ([{"sku": CODE, "barcode": "7"}, {"sku": OTHER, "barcode": "8"}], {}, "every sku is a barcode"),
        ([{"name": "K\u00c3\u00a4se"}], {"csv_encoding": "cp1252"}, "is probably 'K\u00e4se', UTF-8 that is read as cp1252"),
        ([{"sku": "\u0413\u0160"}], {"csv_encoding": "cp1251"}, None),
        ([{"name": "K\u00e4se"}], {"csv_encoding": "cp1252"}, None),
        ([{"name": "K\u00e4se", "sku": "\ufffd line 5"}], {}, None),
        ([{"price": "1.299"}, {"price": "12"}, {"price": "12.500"}], {}, "'1.299': if the point groups thousands"),
        ([{"price": "00150"}, {"price": "12999"}], {}, "such as '00150', which shelfsync reads as whole: if the last 2 are"),
        ([{"price": "00150"}, {"price": "7"}], {}, None),
        ([{"price": "0"}, {"price": "5"}], {}, None),
        ([{"price": str(99 + 50 * number)} for number in range(20)], {}, "every price is whole, up to '1049': if the ERP counts"),
        ([{"price": str(100 * number)} for number in range(20)], {}, None),
        ([{"price": str(99 + 50 * (number % 3))} for number in range(20)], {}, "every price is whole"),
        ([{"price": str(99 + 50 * (number % 2))} for number in range(20)], {}, None),
        ([{"price": str(99 + 50 * number)} for number in range(19)], {}, None),
        ([*({"price": str(99 + 50 * number)} for number in range(20)), {"price": "1.5"}], {}, None),
        ([{"price": "1.299"}, {"price": "0.990"}], {}, None),
        ([{"price": "1.299"}, {"price": "4.99"}], {}, None),
        ([{"price": "1.299"}], {"decimal_mark": ",", "thousands_mark": "."}, None),
        ([{"vendor": "v1", "sku": "7"}, {"vendor": "v2", "sku": "8"}], {}, None),
        ([{"sku": CODE, "barcode": CODE}, {"sku": OTHER, "barcode": OTHER}], {}, None),
        ([{"price": "10", "quantity": "3"}, {"price": "5", "quantity": "1.5"}, {"price": "5", "quantity": "1"}], {}, None),
        ([{"vendor": None, "sku": None, "price": None}], {}, None),
    ],
)  # fmt: skip
def test_a_doubtful_column_is_named_with_its_setting(rows, given, told):
    found = lines(raw(*rows), ErpSettings(files="stock.csv", **given), digits=2)
    assert (told in found[0] and len(found) == 1) if told else found == []


def test_three_decimals_are_usual_in_dinars_and_in_a_database():
    rows = raw({"price": "1.299"})
    assert lines(rows, ErpSettings(files="stock.csv"), digits=3) == []
    assert lines(rows, ErpSettings(url="sqlite://"), digits=2) == []
