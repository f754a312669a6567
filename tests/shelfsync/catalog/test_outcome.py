from __future__ import annotations

import pytest

from catalog_rows import delta, log
from shelfsync.catalog.outcome import match, unmatched


def items(*skus, **values):
    return delta(*({"sku": sku, "quantity": 1, **values} for sku in skus))


def by_barcode(**barcodes):
    return delta(*({"sku": sku, "barcode": barcode, "quantity": 1} for sku, barcode in barcodes.items()))


def states(*arguments):
    return {row["sku"]: row["state"] for row in match(*arguments).to_pylist()}


def test_a_missing_line_is_neither_success_nor_failure():
    (row,) = match(items("A"), log()).to_pylist()
    assert row == {"sku": "A", "state": "unaccounted", "reason": "the log has no line about this SKU", "raw": None}


@pytest.mark.parametrize("order", [1, -1])
def test_where_lines_contradict_each_other_the_error_wins(order):
    lines = [{"sku": "A", "raw": "{1}"}, {"sku": "A", "state": "rejected", "reason": "no such SKU", "raw": "{2}"}]
    (row,) = match(items("A"), log(*lines[::order])).to_pylist()
    assert row == {"sku": "A", "state": "rejected", "reason": "no such SKU", "raw": "{2}"}


def test_the_first_of_several_errors_is_the_reason():
    lines = [{"sku": "A", "state": "rejected", "reason": reason} for reason in ("first", "second")]
    assert match(items("A"), log(*lines))["reason"].to_pylist() == ["first"]


def test_an_unknown_word_beside_a_success_is_no_success():
    lines = log({"sku": "A"}, {"sku": "A", "state": "unaccounted", "reason": "unknown state 'maybe'"})
    (row,) = match(items("A"), lines).to_pylist()
    assert (row["state"], row["reason"]) == ("unaccounted", "unknown state 'maybe'")


def test_a_line_about_another_sku_moves_nothing_and_is_unmatched():
    lines = log(
        {"sku": "B"},
        {"sku": None, "state": "unaccounted", "reason": "the line has 2 fields instead of 3"},
        {"sku": "A"},
    )
    assert states(items("A"), lines) == {"A": "accepted"}
    assert unmatched(items("A"), lines)["sku"].to_pylist() == ["B", None]


def test_a_sku_is_itself_and_nothing_alike():
    lines = log({"sku": "a1"}, {"sku": "A1 "}, {"sku": "0A1"})
    assert states(items("A1"), lines) == {"A1": "unaccounted"}


def test_by_sku_the_barcode_of_a_line_identifies_no_item():
    sent = by_barcode(A="96385074")
    assert states(sent, log({"sku": "X", "barcode": "96385074"}), "sku") == {"A": "unaccounted"}


@pytest.mark.parametrize("barcode", ["96385074", "00000096385074", "000096385074"])
@pytest.mark.parametrize("column", ["sku", "barcode"])
def test_by_barcode_padding_makes_no_difference_in_either_column(barcode, column):
    assert states(by_barcode(A="0096385074"), log({column: barcode}), "barcode") == {"A": "accepted"}


def test_by_barcode_the_sku_identifies_no_item():
    assert states(by_barcode(A="96385074"), log({"sku": "A"}), "barcode") == {"A": "unaccounted"}


def test_by_barcode_a_line_about_two_skus_confirms_neither():
    sent = by_barcode(A="1", B="2", C="3")
    outcomes = match(sent, log({"sku": "1", "barcode": "2"}, {"sku": "3"}), "barcode").to_pylist()
    assert [row["state"] for row in outcomes] == ["unaccounted", "unaccounted", "accepted"]
    assert outcomes[0]["reason"] == "a line of the log may be about either of two SKUs"


def test_by_barcode_two_skus_with_one_barcode_are_never_confirmed():
    assert states(by_barcode(A="1", B="01"), log({"barcode": "1"}), "barcode") == {
        "A": "unaccounted",
        "B": "unaccounted",
    }


def test_a_sku_without_a_barcode_is_not_confirmed_by_a_line_without_one():
    assert states(delta({"sku": "A", "quantity": 1}), log({"sku": None, "barcode": None}), "barcode") == {
        "A": "unaccounted"
    }


def test_items_that_are_no_batch_raise():
    with pytest.raises(ValueError, match="items sent is not sorted"):
        match(items("A", "A"), log())
