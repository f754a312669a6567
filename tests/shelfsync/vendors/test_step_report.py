"""A vendor that has several turns in a step stands once in its report, with the last that a person has to know."""

from __future__ import annotations

import pytest

from shelfsync.vendors.step_report import StepReport


@pytest.mark.parametrize(
    ("turns", "done", "skipped", "failed"),
    [
        (("skip", "do"), 1, 0, 0),
        (("do", "skip"), 1, 0, 0),
        (("do", "do"), 1, 0, 0),
        (("do", "fail"), 0, 0, 1),
        (("skip", "fail"), 0, 0, 1),
        (("skip", "skip"), 0, 1, 0),
    ],
)
def test_a_vendor_with_several_turns_counts_once(turns, done, skipped, failed):
    report = StepReport("deliver")
    for turn in turns:
        method = getattr(report, turn)
        method("a") if turn == "do" else method("a", "why")
    assert report.counts() == {"done": done, "skipped": skipped, "failed": failed}
    assert report.as_dict()["failed"] == ({"a": "why"} if failed else {})
