from __future__ import annotations

import io

import pytest

from shelfsync.catalog.log_reader import parse_log

NEWER = b"sku,state,errors\n"


def lines(data):
    return [(row["sku"], row["state"], row["reason"]) for row in parse_log(io.BytesIO(data)).to_pylist()]


@pytest.mark.parametrize("word", ["success", "SUCCESS", " Ok ", "accepted", "Succeeded"])
@pytest.mark.parametrize("well", ["", "null", "NULL", "[]", "none"])
def test_words_of_success_without_an_error_are_accepted(word, well):
    assert lines(NEWER + f"A,{word},{well}\n".encode()) == [("A", "accepted", None)]


@pytest.mark.parametrize("word", ["failed", "FAILED", "error", "Rejected", "refused"])
def test_words_of_failure_are_rejected_even_without_a_reason(word):
    ((_, state, reason),) = lines(NEWER + f"A,{word},null\n".encode())
    assert state == "rejected"
    assert reason == f"{word.lower()}, and the platform gives no reason"


def test_an_error_beside_a_word_of_success_is_no_success():
    assert lines(NEWER + b"A,success,price ignored\n") == [("A", "rejected", "price ignored")]


def test_an_unknown_word_is_unaccounted_with_the_word():
    assert lines(NEWER + b"A,partially,\nB,,\nC,later,busy\n") == [
        ("A", "unaccounted", "unknown state 'partially'"),
        ("B", "unaccounted", "the line has no state"),
        ("C", "unaccounted", "unknown state 'later': busy"),
    ]
