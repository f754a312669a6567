from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from catalog_rows import normalised, raw, value_or_reason
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.rows.resembled_sku import Known
from shelfsync.schemas import RAW
from shelfsync.settings import NormaliseSettings

REAL_PRICES = Path(__file__).parents[4] / "shared/data/real_store_price_list.csv"


def price(text):
    """The price of a text, or the reason why its row is quarantined."""
    return value_or_reason("price", text)


def barcode(text, key="sku"):
    return value_or_reason("barcode", text, key=key)


def reasons(result):
    return {row["row_number"]: row["reason"] for row in result.quarantine.to_pylist()}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("4.5555555", "4.555"),
        ("1.005", "1.005"),
        ("2.9999", "2.999"),
        ("32.9670", "32.967"),
        ("0.0009", "0.000"),
        ("1E+2", "100.000"),
        ("15.25e-1", "1.525"),
        ("123456e-3", "123.456"),
        ("1e-400", "0.000"),
        ("0e99999999999999999999", "0.000"),
        ("-0.000", "0.000"),
        ("+4", "4.000"),
        (".5", "0.500"),
        ("5.", "5.000"),
        (" 4.5\u00a0", "4.500"),
        ("00012.3400", "12.340"),
        ("99999999999999999.9999", "99999999999999999.999"),
        ("0." + "0" * 5000 + "1", "0.000"),
    ],
)
def test_a_price_is_cut_never_rounded(text, kept):
    assert price(text) == Decimal(kept)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-0.0004", "price_negative"),
        ("-1", "price_negative"),
        ("-1e-400", "price_negative"),
        ("NaN", "price_not_a_number"),
        ("nan", "price_not_a_number"),
        ("Infinity", "price_not_a_number"),
        ("-inf", "price_not_a_number"),
        ("1,99", "price_decimal_comma"),
        ("1.234,50", "price_decimal_comma"),
        ("1,234.50", "price_not_a_number"),
        ("1e400", "price_too_large"),
        ("1e99999999999999999999", "price_too_large"),
        ("100000000000000000", "price_too_large"),
        ("4.50 EUR", "price_not_a_number"),
        ("0x10", "price_not_a_number"),
        ("1_000", "price_not_a_number"),
        ("٤", "price_not_a_number"),
        (".", "price_not_a_number"),
        ("null", "price_not_a_number"),
        ("1\x00", "price_not_a_number"),
    ],
)
def test_a_text_that_is_no_price_is_quarantined_with_its_reason(text, reason):
    assert price(text) == reason


@pytest.mark.parametrize("text", [None, "", "   "])
@pytest.mark.parametrize("field", ["barcode", "price", "quantity", "active", "max_sales_quantity"])
def test_a_blank_value_is_null(field, text):
    assert value_or_reason(field, text) is None


def test_a_sku_keeps_case_zeros_and_inner_spaces():
    skus = ["007", "7", "a1", "A1", "a 1", "Ä", "😀", "قهوة", 'x"y;z\\', "4E12"]
    result = normalised(*({"sku": sku} for sku in skus))
    assert result.snapshot["sku"].to_pylist() == sorted(skus, key=str.encode)


def test_spaces_around_a_sku_are_padding():
    assert normalised({"sku": "  A1  "}).snapshot["sku"].to_pylist() == ["A1"]


@pytest.mark.parametrize(
    ("sku", "reason"),
    [
        (None, "sku_missing"),
        ("   ", "sku_missing"),
        ("A\x001", "sku_control_character"),
        ("A1\n", "sku_control_character"),
        ("A\x851", "sku_control_character"),
        ("Caf\ufffd\\xe9", "sku_undecodable"),
        ("x" * 256, "sku_too_long"),
        ("é" * 256, "sku_too_long"),
    ],
)
def test_a_key_that_cannot_be_one_is_quarantined(sku, reason):
    assert reasons(normalised({"sku": sku})) == {1: reason}


def test_the_length_of_a_sku_is_counted_in_characters():
    assert normalised({"sku": "é" * 255}).snapshot.num_rows == 1
    assert normalised({"sku": "abcd"}, sku_length_max=3).quarantine["sku"].to_pylist() == ["abcd"]


@pytest.mark.parametrize("text", ["4006381333931", "00000096385074", "96385074", "0"])
def test_a_barcode_is_digits_and_keeps_its_zeros(text):
    assert barcode(text) == text
    assert barcode(f" {text} ") == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4.0E+12", "barcode_as_float"),
        ("4012345678901.0", "barcode_as_float"),
        ("4e12", "barcode_as_float"),
        ("40123456789O1", "barcode_not_digits"),
        ("-4012345678901", "barcode_not_digits"),
        ("٤٠١٢٣", "barcode_not_digits"),
        ("nan", "barcode_not_digits"),
        ("123456789012345", "barcode_too_long"),
    ],
)
def test_a_barcode_that_would_fail_a_whole_request_is_quarantined(text, reason):
    assert barcode(text) == reason
    assert barcode(text, key="barcode") == reason


def test_without_a_barcode_a_row_can_be_sent_by_sku_only():
    assert barcode(None) is None
    assert barcode(None, key="barcode") == "barcode_missing"


def test_a_barcode_on_two_skus_matters_only_when_items_are_called_by_it():
    rows = [
        {"sku": "A1", "barcode": "96385074"},
        {"sku": "B2", "barcode": "00000096385074"},
        {"sku": "C3", "barcode": "1"},
    ]
    assert normalised(*rows).snapshot.num_rows == 3
    assert reasons(normalised(*rows, key="barcode")) == {1: "barcode_duplicate", 2: "barcode_duplicate"}


def test_a_row_has_the_first_of_its_faults_as_reason():
    row = {"sku": "A1", "barcode": "x", "price": "-1", "quantity": "no"}
    assert reasons(normalised(row)) == {1: "barcode_not_digits"}
    assert reasons(normalised({**row, "barcode": None})) == {1: "price_negative"}
    assert reasons(normalised({**row, "barcode": None, "price": None})) == {1: "quantity_not_a_number"}


def test_a_row_without_a_vendor_is_nobodys_and_duplicates_nothing():
    result = normalised(
        {"sku": "A1"}, {"sku": "A1", "vendor": None}, {"sku": "A1", "vendor": " "}, {"sku": "A1", "vendor": "x\x00"}
    )
    assert result.snapshot["sku"].to_pylist() == ["A1"]
    assert reasons(result) == {2: "vendor_missing", 3: "vendor_missing", 4: "vendor_characters"}
    assert result.quarantine["vendor"].to_pylist() == [None, None, None]


def test_rows_of_two_vendors_in_one_table_are_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="several vendors"):
        normalised({"sku": "A1"}, {"sku": "A1", "vendor": "store-002"})


def test_a_table_with_other_columns_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="has the columns"):
        make_snapshot(raw({"sku": "A1"}).drop_columns(["price"]), NormaliseSettings())


def test_a_quarantined_row_carries_itself_and_a_sentence():
    (row,) = normalised({"sku": "A1", "price": '1,"9\x00', "quantity": "3"}).quarantine.to_pylist()
    assert row["message"] == r'price "1,\"9\u0000" is not a finite decimal number'
    assert json.loads(row["raw"]) == {
        "row_number": 1,
        "vendor": "store-001",
        "sku": "A1",
        "barcode": None,
        "price": '1,"9\x00',
        "quantity": "3",
        "active": None,
        "max_sales_quantity": None,
        "category": None,
        "cost": None,
        "sales_buffer": None,
        "name": None,
    }


def test_a_value_of_a_megabyte_makes_a_short_sentence_and_a_short_key():
    result = normalised({"sku": "x" * 1_000_000}, {"sku": "A1", "price": "9" * 1_000_000})
    assert [len(message) < 200 for message in result.quarantine["message"].to_pylist()] == [True, True]
    assert result.quarantine["sku"].to_pylist() == [None, "A1"]


def test_bytes_that_are_no_text_are_quarantined_not_crashed_on():
    data = pa.array([b"Caf\xe9", b"ok"])
    _, offsets, buffer = data.buffers()
    broken = pa.StringArray.from_buffers(2, offsets, buffer)
    table = raw({"sku": "A"}, {"sku": "B"})
    table = table.set_column(table.column_names.index("sku"), RAW.field("sku"), broken)
    result = make_snapshot(table, NormaliseSettings())
    assert reasons(result) == {1: "sku_undecodable"}
    assert result.snapshot["sku"].to_pylist() == ["ok"]


@pytest.mark.parametrize("vendor", [None, " ", "st\0re"])
def test_several_rows_without_a_vendor_are_quarantined_and_duplicate_nothing(vendor):
    result = normalised(*({"sku": sku, "vendor": vendor, "price": "1"} for sku in ("a", "b", "b")))
    assert result.snapshot.num_rows == 0
    assert not result.quarantine["reason"].to_pylist().count("sku_duplicate")


@pytest.mark.skipif(
    not REAL_PRICES.exists(), reason="the price list of a real store lies beside the project only where it is built"
)
def test_the_price_list_of_a_real_store_comes_through_to_the_cent():
    with REAL_PRICES.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    result = normalised(*({"sku": row["item_code"], "price": row["item_price"]} for row in rows))
    assert result.snapshot.num_rows + result.rows_quarantined == len(rows) > 5000
    prices = {row["item_code"]: Decimal(row["item_price"]) for row in rows}
    found = dict(zip(*(result.snapshot[name].to_pylist() for name in ("sku", "price")), strict=True))
    assert found == {sku: prices[sku] for sku in found}
    assert set(result.quarantine["reason"].to_pylist()) <= {"sku_duplicate"}


def test_category_and_cost_are_read_and_a_faulty_cost_is_counted_and_costs_no_row():
    done = normalised(
        {"sku": "a", "price": "2", "category": "  dairy\tand eggs ", "cost": "1.23456"},
        {"sku": "b", "price": "2", "category": " ", "cost": "1,50"},
        {"sku": "c", "price": "2", "cost": "-1"},
    )
    assert (done.rows_quarantined, done.quarantine["row_sent"].to_pylist()) == (0, [True, True])
    assert done.quarantine["reason"].to_pylist() == ["cost_decimal_comma", "cost_negative"]
    assert done.snapshot.select(["category", "cost"]).to_pylist() == [
        {"category": "dairy and eggs", "cost": Decimal("1.234")},
        {"category": None, "cost": None},
        {"category": None, "cost": None},
    ]


@pytest.mark.parametrize(
    ("came", "buffer"), [("3", 3), ("3.0", 3), ("", None), ("3.5", None), ("-1", None), ("many", None), ("1e30", None)]
)
def test_a_sales_buffer_that_makes_no_sense_is_counted_and_keeps_no_row_back(came, buffer):
    done = normalised({"sku": "A1", "quantity": "3", "sales_buffer": came, "category": " dairy "})
    (row,) = done.snapshot.to_pylist()
    assert (done.rows_quarantined, done.values_left_out) == (0, int(buffer is None and came != ""))
    assert (row["sales_buffer"], row["category"], row["quantity"]) == (buffer, "dairy", 3)


def test_a_heading_in_the_column_of_the_sku_is_no_product_unless_the_platform_has_it():
    rows = raw(*({"sku": f"10{number}", "price": "1.99"} for number in range(5)), {"sku": "Drinks"})
    assert reasons(make_snapshot(rows, NormaliseSettings())) == {6: "no_row"}
    known = Known(pa.array(["Drinks"]))
    assert reasons(make_snapshot(rows, NormaliseSettings(), known=known)) == {}
