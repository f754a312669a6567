"""What may become of a hold in each of its states."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from shelfsync.decisions.hold import REOPENED, Hold, becomes, not_sent, undecided
from shelfsync.decisions.state import HoldState, Subject

DECISIONS = (HoldState.APPROVED, HoldState.DECLINED)
NOON = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)
OPEN = Hold(
    hold_id=7,
    subject=Subject.CATALOG,
    vendor="store-001",
    first_run_id=1,
    run_id=1,
    generation=1,
    rule="price_change",
    category=None,
    campaign=None,
    message="",
    thresholds={},
    rows_path="hold/a",
    before_path=None,
    identity="a",
    rows=3,
    state=HoldState.OPEN,
    asked_by=None,
    decided_by=None,
    why=None,
    superseded_by=None,
    held_at=NOON,
    expires_at=NOON + dt.timedelta(hours=4),
    decided_at=None,
    released_at=None,
    spent_at=None,
    acts=0,
)
DECISIONS = (HoldState.APPROVED, HoldState.DECLINED)


@pytest.mark.parametrize("state", HoldState)
def test_no_person_decides_about_a_hold_whose_rows_a_newer_extract_has_replaced(state):
    hold = replace(OPEN, state=state)
    offered = hold.may_be_approved, hold.may_become(HoldState.DECLINED), hold.may_be_reopened
    by_the_rules = (*(state in undecided(one) for one in DECISIONS), state in REOPENED)
    assert offered == by_the_rules
    newer = replace(hold, superseded_by=2)
    assert not any([*map(newer.may_become, DECISIONS), newer.may_be_approved, newer.may_be_reopened])


def test_an_answer_is_about_the_rows_and_the_acts_that_the_person_saw():
    assert replace(OPEN, decided_by="ada").mark == OPEN.mark
    others = [replace(OPEN, **change) for change in ({"identity": "b"}, {"rows": 2}, {"acts": 1}, {"superseded_by": 2})]
    assert len({OPEN.mark, *(one.mark for one in others)}) == 5


def test_a_sentence_tells_what_becomes_of_each_hold():
    approved = replace(OPEN, state=HoldState.APPROVED)
    assert becomes(approved) == "the next run sends its changes"
    assert becomes(replace(approved, released_at=NOON)) == "its changes are sent"
    assert "what the ERP still has" in becomes(replace(approved, superseded_by=2))
    assert "nothing of it is sent" in becomes(replace(approved, superseded_by=2, spent_at=NOON))
    declined = replace(OPEN, state=HoldState.DECLINED, decided_by="ada")
    assert not_sent(declined) == "hold 7 (store-001 price_change: 3 rows) is declined by ada; nothing of it is sent"
    assert "superseded by the newer extract of run 2" in not_sent(replace(declined, superseded_by=2))


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
