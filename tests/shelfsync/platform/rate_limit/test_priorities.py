"""The priorities themselves."""

from __future__ import annotations

import pytest

from partner_api.session import PRIORITIES as CLIENT_PRIORITIES
from shelfsync.platform.rate_limit.priorities import PRIORITIES, known


def test_floors_leave_something_to_the_dearest():
    assert sum(priority.floor for priority in PRIORITIES) < 1


def test_priorities_are_called_what_the_client_calls_them():
    assert tuple(priority.name for priority in PRIORITIES) == CLIENT_PRIORITIES


def test_an_unknown_priority_is_rejected_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no priority 'urgent'.*order, stop_sell"):
        known("urgent")
