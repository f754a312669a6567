"""A file that gives no answer in time is given up. What it does with real pipes: test_broken_store.py."""

from __future__ import annotations

import threading

import pytest

from shelfsync.erp.file_time_limit import TimeLimit
from shelfsync.errors import BrokenOffError


@pytest.fixture
def silent():
    """Answers as soon as the event is set, which the end of the test does."""
    answers = threading.Event()
    yield answers
    answers.set()


def test_what_answers_in_time_is_read_part_by_part():
    assert list(TimeLimit(60).answers("parts", iter_of(1, 2, 3))) == [1, 2, 3]
    assert TimeLimit(60).answer("one", lambda: "read") == "read"


def iter_of(*parts):
    yield from parts


def test_an_error_of_the_reading_is_that_of_its_caller():
    with pytest.raises(FileNotFoundError):
        TimeLimit(60).answer("absent", lambda: open("/nowhere/at/all"))  # noqa: PTH123, SIM115


def test_what_does_not_answer_in_time_is_given_up_and_not_asked_again_meanwhile(silent):
    asked = []

    def ask():
        asked.append(threading.current_thread())
        return silent.wait()

    limit = TimeLimit(0.05)
    with pytest.raises(BrokenOffError, match=r"share cannot be read: it did not answer within 0\.05 s"):
        limit.answer("share", ask)
    with pytest.raises(BrokenOffError, match="share cannot be read: it still does not answer"):
        limit.answer("share", ask)
    assert len(asked) == 1
    assert limit.answer("another share", lambda: "read") == "read"
    silent.set()
    asked[0].join(60)
    assert limit.answer("share", lambda: "read") == "read"
