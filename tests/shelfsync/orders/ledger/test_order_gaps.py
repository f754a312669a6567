"""An order without an event is a gap, unless it is older than the first event."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.orders.ledger import order_gaps


def place_many(world, number, **options):
    return [world.place("MILK", ago_s=60, **options) for _ in range(number)]


@pytest.mark.slow
def test_what_is_older_than_the_first_event_ever_is_no_gap(quiet):
    place_many(quiet, 2)
    assert quiet.app.orders.history(["store-001"])["gaps"] == 0
    quiet.platform.faults()
    quiet.place("JAM", ago_s=30)
    quiet.receive_events()
    counts = quiet.app.orders.history(["store-001"])
    assert (counts["orders"], counts["gaps"]) == (3, 0)


def test_the_first_event_is_found_without_reading_every_version(world):
    """Every page of the history and every run of `watch` reads it; versions are kept for months."""
    place_many(world, 1)
    world.receive_events()
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL enable_seqscan = off"))
        statement = order_gaps.first_event().compile(connection, compile_kwargs={"literal_binds": True})
        plan = "\n".join(connection.execute(sa.text(f"EXPLAIN {statement}")).scalars())
        seen_at = order_gaps.first_event_at(connection)
    assert "ix_order_version_event" in plan
    assert [(seen_at,)] == world.rows("SELECT min(seen_at) FROM ledger.order_version WHERE source = 'event'")
