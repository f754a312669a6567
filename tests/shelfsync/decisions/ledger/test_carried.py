"""The rest of a hold that a person has decided keeps the decision as it is when the rest is written."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa

from shelfsync.decisions.hold import Found
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HoldState, Place, Subject

WHOLE = Found(
    vendor="store-001", rule="price", category=None, message="m", thresholds={}, rows_path="a", before_path=None, identity="a", rows=2
)  # fmt: skip


@pytest.mark.parametrize("again", [None, "reopened", "approved"])
def test_the_rest_has_the_decision_that_stands_when_it_is_written(engine, again):
    """A guard reads decisions, and writes its holds some time later."""
    with engine.begin() as connection:
        earlier = holds.add(connection, Subject.CATALOG, WHOLE, run_id=1, generation=1, hours=1)
        holds.decide(connection, earlier, HoldState.DECLINED, who="ada", place=Place.PAGE, why="wrong")
    rest = dataclasses.replace(WHOLE, rows_path="b", identity="b", rows=1, carried=earlier)
    if again:
        with engine.begin() as connection:
            assert holds.reopen(connection, earlier, who="bob", place=Place.PAGE, why="right", hours=1)
            if again == "approved":
                holds.decide(connection, earlier, HoldState.APPROVED, who="bob", place=Place.PAGE, why="right")
    with engine.begin() as connection:
        holds.renew(connection, Subject.CATALOG, [rest], vendor="store-001", run_id=2, generation=2, hours=1)
        states = connection.execute(
            sa.text("SELECT state, decided_by FROM ledger.hold WHERE hold_id <> :n"), {"n": earlier}
        )
        assert states.all() == [
            {None: ("declined", "ada"), "reopened": ("open", None), "approved": ("approved", "bob")}[again]
        ]
