"""Every reason of the quarantine can happen; the tables of data-path.md and guards.md are what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from catalog_rows import normalised
from shelfsync.catalog import line_outcome
from shelfsync.catalog.guards.apply_guards import GUARDS
from shelfsync.rows.quarantine_reason import REASONS, of_no_product
from shelfsync.schemas import RAW
from shelfsync.settings.guard_thresholds import Rules

PAGE = (Path(__file__).parents[3] / "docs/explanation/data-path.md").read_text(encoding="utf-8")

EACH = {
    "row_unreadable": {"sku": "\ufffd line 3: 2 fields instead of 3: a,b"},
    "no_row": {"sku": "\ufffd beside the rows: row 9: a total or a count of the rows: Summe, 4.50"},
    "vendor_missing": {"vendor": None},
    "vendor_characters": {"vendor": "x\t"},
    "vendor_odd": {"vendor": "store-001\u200b"},
    "vendor_too_long": {"vendor": "x" * 256},
    "vendor_is_folder": {"vendor": ".."},
    "sku_missing": {"sku": None},
    "sku_undecodable": {"sku": "\ufffd"},
    "sku_control_character": {"sku": "\x00"},
    "sku_invisible_character": {"sku": "x\u200b"},
    "sku_quoted": {"sku": "'x"},
    "sku_look_alike": {"sku": "x\u0430"},
    "sku_resembles_known": {"sku": "7.0"},
    "sku_as_float": {"sku": "4.00638E+12"},
    "sku_too_long": {"sku": "x" * 256},
    "sku_duplicate": {"sku": "twice"},
    "barcode_missing": {"barcode": None},
    "barcode_as_float": {"barcode": "4.0E+12"},
    "barcode_not_digits": {"barcode": "x"},
    "barcode_too_long": {"barcode": "1" * 15},
    "barcode_duplicate": {"barcode": "1"},
    "price_decimal_comma": {"price": "1,99"},
    "price_not_a_number": {"price": "x"},
    "price_negative": {"price": "-1"},
    "price_too_large": {"price": "1e17"},
    "active_not_a_truth_value": {"active": "x"},
    "max_sales_quantity_zero": {"max_sales_quantity": "0"},
}
AMOUNT = {"decimal_comma": "1,99", "not_a_number": "x", "negative": "-1", "too_large": "1e17"}
EACH |= {f"cost_{word}": {"cost": text} for word, text in AMOUNT.items()}
for count in ("quantity", "max_sales_quantity", "sales_buffer"):
    EACH |= {
        f"{count}_decimal_comma": {count: "1,5"},
        f"{count}_not_a_number": {count: "x"},
        f"{count}_negative": {count: "-1"},
        f"{count}_not_whole": {count: "1.5"},
        f"{count}_too_large": {count: "2147483648"},
    }


def test_every_reason_can_happen():
    rows = [
        {"sku": f"S{place}", "barcode": f"{100 + place}", **row}
        for place, row in enumerate([*EACH.values(), EACH["sku_duplicate"], EACH["barcode_duplicate"]])
    ]
    result = normalised(
        *rows, key="barcode", known=["7"], quantity_rounding="quarantine", negative_quantity="quarantine"
    )
    assert result.quarantine["reason"].to_pylist()[: len(EACH)] == list(EACH)
    sent = {row["field"] for row in result.quarantine.to_pylist() if row["row_sent"]}
    assert sent == {"max_sales_quantity", "cost", "sales_buffer"}, "a row of nothing else that is good is not sent"
    assert set(EACH) | {"sku_unlike_others"} == {reason.word for reason in REASONS}


def test_a_key_may_be_unlike_all_others():
    result = normalised(*({"sku": str(number)} for number in range(100000, 100030)), {"sku": "0x186A1"})
    assert result.quarantine["reason"].to_pylist() == ["sku_unlike_others"]


def test_a_row_of_a_workbook_and_of_a_text_is_named_alike_and_without_the_mark_of_broken_text():
    damaged = [{"sku": f"\ufffd {place} 3: 2 fields instead of 3"} for place in ("line", "row")]
    found = normalised(*damaged, EACH["no_row"], {"sku": "\ufffd"}).quarantine
    assert found["reason"].to_pylist() == ["row_unreadable", "row_unreadable", "no_row", "sku_undecodable"]
    assert not any("\ufffd" in message for message in found["message"].to_pylist()[:3])
    assert '"row 9: a total or a count of the rows: Summe, 4.50"' in found["message"][2].as_py()


def test_a_digit_of_another_script_is_named_in_a_number():
    rows = [
        {"sku": "5", "price": "\u0661\u0662.50"},
        {"sku": "6", "price": "twelve"},
        {"sku": "7", "quantity": "1\uff12"},
    ]
    found = normalised(*rows).quarantine.to_pylist()
    assert [row["message"].partition("decimal number")[2] for row in found] == [
        ": ARABIC-INDIC DIGIT ONE (U+0661)",
        "",
        ": FULLWIDTH DIGIT TWO (U+FF12)",
    ]


def test_the_page_lists_the_words_that_decide_an_outcome():
    rows = re.search(r"^\| (success.*) \| accepted \|\n\| (failed.*) \| rejected", PAGE, re.MULTILINE)
    good, bad = rows.groups()
    words, well = good.split(", in any case, and errors empty, ")
    assert re.findall(r"\w+", words.replace(" or ", " ")) == line_outcome._SUCCESS.to_pylist()
    assert ["", *re.findall(r"`(.+?)`", well)] == line_outcome._WELL.to_pylist()
    assert re.findall(r"\w+", bad.replace(" or ", " ")) == line_outcome._FAILURE.to_pylist()


def test_the_guards_page_lists_every_rule_in_its_order_with_its_thresholds():
    page = (Path(__file__).parents[3] / "docs/explanation/guards.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| ([\d.]+) \| ([\d.]+) \| (.*) \|$", page, re.MULTILINE)
    rules = Rules()
    assert [row[0] for row in rows] == list(GUARDS)
    for rule, sentence, count, share, _ in rows:
        limit = getattr(rules, rule)
        assert (int(count), float(share)) == (limit.max_rows, limit.max_share), rule
        for name, value in re.findall(r"`(slack|move|leap)` ([\d.]+)", sentence):
            assert float(value) == getattr(limit, name)


@pytest.mark.parametrize(
    "key", ["NULL", "(null)", "\\N", "#N/A", "#REF!", "#DIV/0!", "NaN", "None", "#NV", "N/A", "-", "?"]
)
def test_a_word_for_no_value_is_no_sku_and_its_row_may_be_about_any_product(key):
    found = normalised({"sku": key})
    assert found.quarantine["reason"].to_pylist() == ["sku_missing"]
    row = pa.Table.from_pylist([dict.fromkeys(RAW.names) | {"vendor": "v", "sku": key, "price": "1"}], schema=RAW)
    assert of_no_product(row).all()


@pytest.mark.parametrize(
    "key", ["NULL-1", "#100", "NONE1", "nan5", "A", "-1", "N/A1", "#Rot", "#XL", "NAN", "NIL", "none"]
)
def test_a_sku_that_begins_so_is_one(key):
    assert normalised({"sku": key}).quarantine.num_rows == 0


@pytest.mark.parametrize(
    ("row", "constants"), [({}, ["active"]), ({"name": "Fruit"}, ["active"]), ({"price": "1"}, ["price"])]
)
def test_a_constant_states_nothing_of_a_row_without_a_sku(row, constants):
    stated = dict.fromkeys(RAW.names) | {"vendor": "v", "active": "true" if "active" in constants else None} | row
    rows = pa.Table.from_pylist([stated], schema=RAW)
    assert not of_no_product(rows, constants).any()
    assert of_no_product(
        rows.set_column(rows.column_names.index("price"), RAW.field("price"), pa.array(["2"])), ["active"]
    ).all()
