"""The pointer to what the platform was last seen to show."""

from __future__ import annotations

import datetime as dt

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import observations

NOON = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)


@pytest.fixture
def seen(engine):
    """Records an observation of a vendor so many minutes after noon; returns its number."""
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO ledger.vendor (vendor) VALUES ('a'), ('b')"))

    def note(vendor: str, minutes: int, **pointers) -> int:
        at = NOON + dt.timedelta(minutes=minutes)
        with engine.begin() as connection:
            return observations.record(
                connection,
                vendor,
                how="export",
                path=f"observed/{vendor}/{minutes}.parquet",
                rows=3,
                observed_at=at,
                ended_at=at + dt.timedelta(minutes=1),
                **pointers,
            )

    return note


def test_a_vendor_without_an_export_has_no_observation(engine, seen):
    with engine.connect() as connection:
        assert observations.newest(connection, "a") is None


def test_the_newest_observation_is_the_one_requested_last_not_the_one_received_last(engine, seen):
    seen("a", 5, last_job_id=7)
    seen("a", 3)
    seen("b", 9)
    with engine.connect() as connection:
        last = observations.newest(connection, "a")
        assert (last.path, last.last_job_id) == ("observed/a/5.parquet", 7)
        assert observations.newest(connection, "a", before=last).path == "observed/a/3.parquet"
        first = observations.newest(connection, "a", before=last)
        assert observations.newest(connection, "a", before=first) is None
        assert observations.read(connection, last.observation_id) == last
