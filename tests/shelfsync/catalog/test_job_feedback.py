from __future__ import annotations

import json

import pytest

from catalog_rows import delta
from shelfsync.catalog.job_feedback import parse_feedback
from shelfsync.catalog.outcome import match
from shelfsync.schemas import LOG


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
    outcomes = match(delta({"sku": "A"}, {"sku": "B"}), lines)
    assert outcomes["state"].to_pylist() == ["accepted", "unaccounted"]


def test_feedback_with_half_a_character_is_read():
    lines = parse_feedback([{"sku": "A\ud83d", "status": "failed\ude00"}, {"sku": "\ud83d\ude00", "status": "ok"}])
    assert lines["sku"].to_pylist() == ["A\ufffd", "😀"]
