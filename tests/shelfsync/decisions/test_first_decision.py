from __future__ import annotations

import pytest

from shelfsync.decisions.first_decision import REOPENED, undecided
from shelfsync.decisions.state import HoldState

DECISIONS = (HoldState.APPROVED, HoldState.DECLINED)


@pytest.mark.parametrize(
    ("state", "decisions", "reopened"),
    [
        (HoldState.OPEN, DECISIONS, False),
        (HoldState.APPROVED, (), False),
        (HoldState.DECLINED, (), True),
        (HoldState.EXPIRED, (HoldState.DECLINED,), True),
        (HoldState.SUPERSEDED, (), False),
    ],
)
def test_the_first_decision_stands_until_a_person_opens_the_hold_again(state, decisions, reopened):
    assert tuple(one for one in DECISIONS if state in undecided(one)) == decisions
    assert (state in REOPENED) == reopened
