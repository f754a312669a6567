from __future__ import annotations

import pytest

from kills.course import Course
from kills.verdict import verdict

pytestmark = pytest.mark.slow

A_HANDFUL = 7  # one of each


def test_after_a_handful_of_kills_nothing_is_lost_twice_stuck_or_unsaid(reachable_folder):
    with Course(reachable_folder / "kills", 1, print).running() as course:
        for _ in range(A_HANDFUL):
            course.kill_one()
        course.quiet()
        assert verdict(course) == []
    assert sum(course.killed.values()) == A_HANDFUL
