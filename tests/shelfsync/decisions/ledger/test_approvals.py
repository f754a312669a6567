"""How long an approval is valid."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.decisions.hold import Found
from shelfsync.decisions.ledger import approvals, holds
from shelfsync.decisions.state import HoldState, Place, Subject


@pytest.fixture
def connection(engine):
    with engine.begin() as connection:
        yield connection


def held(connection, vendor="v1", state=HoldState.APPROVED, *, hours_ago=0.0):
    """The number of a hold that was decided so long ago."""
    found = Found(vendor, "price_change", None, "held", {}, f"held/{vendor}/rows", None, vendor, 1)
    number = holds.add(connection, Subject.CATALOG, found, run_id=1, generation=1, hours=24)
    holds.decide(connection, number, state, who="ada", place=Place.PAGE, why="checked")
    ago = sa.text("UPDATE ledger.hold SET decided_at = decided_at - make_interval(secs => :s) WHERE hold_id = :number")
    connection.execute(ago, {"s": hours_ago * 3600, "number": number})
    return number


def usable(connection, **given):
    return [hold.hold_id for hold in approvals.approved(connection, Subject.CATALOG, **given)]


def test_it_is_valid_for_so_many_hours_or_without_an_end(connection):
    fresh, old = held(connection, hours_ago=23), held(connection, hours_ago=25)
    assert usable(connection, hours=24) == [fresh]
    assert usable(connection) == [fresh, old]
    assert usable(connection, vendor="v2") == []
    assert approvals.approved(connection, Subject.PROMOTIONS) == []


def test_it_ends_once_its_rows_have_left_the_erp_and_not_when_it_is_applied(connection):
    applied, spent = held(connection), held(connection)
    approvals.applied(connection, [applied], run_id=2, generation=2)
    approvals.spend(connection, [spent])
    assert usable(connection, hours=24) == [applied]
    hold = holds.known(connection, applied)
    assert (hold.run_id, hold.generation, hold.released_at is None) == (2, 2, False)


def test_a_decline_stands_however_old_it_is(connection):
    declined = held(connection, state=HoldState.DECLINED, hours_ago=1000)
    held(connection, hours_ago=25)
    fresh, other = held(connection), held(connection, "v2")
    found = approvals.decided(connection, Subject.CATALOG, ["v1"], hours=24)
    assert [hold.hold_id for hold in found] == [declined, fresh]
    assert other not in {hold.hold_id for hold in found}


@pytest.mark.parametrize(
    ("state", "hours_ago", "concerned"),
    [(HoldState.APPROVED, 1, True), (HoldState.APPROVED, 25, False), (HoldState.DECLINED, 25, True)],
)
def test_a_vendor_is_concerned_while_something_is_held_or_may_be_released(connection, state, hours_ago, concerned):
    held(connection, state=state, hours_ago=hours_ago)
    mine = approvals.is_concerned(Subject.CATALOG, sa.literal("v1"), hours=24)
    others = approvals.is_concerned(Subject.CATALOG, sa.literal("v2"), hours=24)
    assert connection.execute(sa.select(mine, others)).one() == (concerned, False)
