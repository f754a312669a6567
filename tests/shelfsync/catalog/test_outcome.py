from __future__ import annotations

import json

import pytest

from catalog_rows import delta, log
from shelfsync.catalog.outcome import match, parse_feedback, unmatched
from shelfsync.schemas import LOG


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


def test_feedback_of_a_job_is_read_like_a_log():
    feedback = [
        {"sku": "A", "status": "SUCCESS", "rejection_reasons": []},
        {
            "sku": "B",
            "status": "FAILED",
            "rejection_reasons": [{"rejected_data": "-1", "rejected_reason": "price below 0"}],
        },
        {
            "sku": "C",
            "status": "success",
            "rejection_reasons": [{"rejected_data": None, "rejected_reason": "unknown SKU"}],
        },
        {"sku": "D", "status": "PENDING"},
        {"sku": 5, "state": "ok", "rejection_reasons": None},
        {
            "sku": "E",
            "status": "rejected",
            "rejection_reasons": ["text", {"rejected_data": [1], "rejected_reason": None}, {}],
        },
    ]
    lines = parse_feedback(feedback)
    assert lines.schema == LOG
    assert [(row["sku"], row["state"], row["reason"]) for row in lines.to_pylist()] == [
        ("A", "accepted", None),
        ("B", "rejected", "price below 0 (-1)"),
        ("C", "rejected", "unknown SKU"),
        ("D", "unaccounted", "unknown state 'pending'"),
        ("5", "accepted", None),
        ("E", "rejected", "text; no reason given ([1]); no reason given"),
    ]
    assert [json.loads(raw) for raw in lines["raw"].to_pylist()] == feedback


@pytest.mark.parametrize("strange", [None, "A", 3, ["A"], {}, {"sku": None}, {"sku": {"a": 1}, "status": ["x"]}])
def test_feedback_in_an_unknown_format_confirms_no_sku(strange):
    lines = parse_feedback([strange, {"sku": "A", "status": "success"}])
    assert states(items("A", "B"), lines) == {"A": "accepted", "B": "unaccounted"}


def test_feedback_with_half_a_character_is_read():
    lines = parse_feedback([{"sku": "A\ud83d", "status": "failed\ude00"}, {"sku": "\ud83d\ude00", "status": "ok"}])
    assert lines["sku"].to_pylist() == ["A\ufffd", "😀"]
