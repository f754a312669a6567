"""Whatever goes wrong under a lease: if the lease is lost, that is the reason, and the heir's row is left alone."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.vendors.lease import lease
from shelfsync.vendors.step_report import Skip, Taken
from shelfsync.vendors.under_lease import holding

VENDOR = "store-001"
AWAY = sa.exc.OperationalError("SELECT 1", {}, Exception("server closed the connection unexpectedly"))


def _expire(engine):
    with engine.begin() as connection:
        connection.execute(lease.update().values(until_at=sa.text("ledger.instant() - interval '1 second'")))


def _known_vendor_twice(engine):
    with engine.begin() as connection:
        for _ in range(2):
            connection.execute(sa.text("INSERT INTO ledger.vendor (vendor) VALUES ('of both')"))


def _lost_then(context, work):
    """Works under a lease that another process has taken over."""
    with holding(context, VENDOR):
        _expire(context.engine)
        with holding(context, VENDOR):
            pass
        work()


@pytest.fixture
def context(world):
    return world.app.context


def test_a_vendor_in_work_is_taken(context):
    with holding(context, VENDOR), pytest.raises(Taken), holding(context, VENDOR):
        pass


def test_an_error_under_a_lost_lease_is_no_failure_of_the_vendor(context):
    with pytest.raises(Skip, match="taken over"):
        _lost_then(context, lambda: 1 / 0)


def test_a_row_that_the_heir_has_written_is_no_failure(context):
    """Both wrote the same key: the late one learns of the lost lease by a unique violation."""
    with pytest.raises(Skip, match="taken over"):
        _lost_then(context, lambda: _known_vendor_twice(context.engine))


def test_a_violation_under_a_lease_in_force_stays_what_it_is(context):
    with pytest.raises(sa.exc.IntegrityError), holding(context, VENDOR):
        _known_vendor_twice(context.engine)


def test_a_database_that_is_away_stops_the_step(context):
    """It is not asked for the lease: whoever stops the step needs the first error."""

    def away():
        raise AWAY

    with pytest.raises(sa.exc.OperationalError, match="closed the connection"):
        _lost_then(context, away)
