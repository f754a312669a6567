"""The job events of the inbox, as the steps read them."""

from __future__ import annotations

import itertools
import json

import pytest
import sqlalchemy as sa

from shelfsync.inbox import events
from shelfsync.inbox.event_body import read
from shelfsync.inbox.events import event
from waiting_events import unprocessed_jobs

QUEUED = {"job_id": "17", "status": "QUEUED"}
COMPLETED = {"job_id": 17, "job_status": "completed", "downloadURL": "https://h/1", "vendor_id": "store-001"}
NO_LINK = {"job_id": "17", "status": "COMPLETED"}


@pytest.fixture
def arrive(engine):
    def store(*bodies):
        with engine.begin() as connection:
            for body in bodies:
                got = read(json.dumps(body).encode())
                connection.execute(
                    sa.insert(event).values(
                        kind=got.kind,
                        identity=got.identity,
                        platform_job_id=got.platform_job_id,
                        vendor=got.vendor,
                        body=got.body,
                    )
                )

    return store


def _best_event(engine, job="17"):
    with engine.connect() as connection:
        found = events.best_first(map(events.read_event, events.of_job(connection, job)))
    return found[0] if found else None


def test_a_job_without_an_event_has_no_event(engine, arrive):
    arrive(COMPLETED)
    assert _best_event(engine, "18") is None


@pytest.mark.parametrize("order", [*itertools.permutations([QUEUED, NO_LINK, COMPLETED])])
def test_whatever_the_order_of_arrival_the_end_with_its_link_counts(engine, arrive, order):
    arrive(*order)
    got = _best_event(engine)
    assert (got.status, got.download_url, got.vendor, got.has_ended) == (
        "COMPLETED",
        "https://h/1",
        "store-001",
        True,
    )


def test_of_two_links_the_newest_counts_and_both_can_be_checked(engine, arrive):
    second = {**COMPLETED, "downloadURL": "https://h/2", "vendor_id": "store-002"}
    arrive(COMPLETED, second)
    got = _best_event(engine)
    assert (got.download_url, got.vendor) == (
        "https://h/2",
        "store-002",
    )  # never the link of one, the vendor of the other
    with engine.connect() as connection:
        every = [events.read_event(row) for row in events.of_job(connection, "17")]
    assert [one.download_url for one in every] == ["https://h/2", "https://h/1"]


def test_of_a_flood_of_events_the_newest_are_read_and_a_quarantined_one_makes_room(engine, arrive):
    arrive(*({**COMPLETED, "downloadURL": f"https://h/{number}"} for number in range(50)))
    with engine.begin() as connection:
        first = events.of_job(connection, "17")
        assert len(first) == events.AT_ONCE
        for row in first:
            events.quarantine(connection, row.event_id, "x" * 10_000)
        second = events.of_job(connection, "17")
        assert max(row.event_id for row in second) < min(row.event_id for row in first)
        assert events.replay(connection, "17") == 50
        assert events.of_job(connection, "17") == first


def test_one_statement_reads_the_newest_events_of_each_of_many_jobs(engine, arrive):
    arrive(*({**COMPLETED, "job_id": str(job), "downloadURL": f"https://h/{n}"} for n in range(25) for job in (1, 2)))
    with engine.connect() as connection:
        both = {job: events.of_job(connection, job) for job in ("1", "2")}
        assert [len(rows) for rows in both.values()] == [events.AT_ONCE] * 2
        assert events.of_jobs(connection, ["1", "3", "2", "1"]) == both
        assert events.of_jobs(connection, []) == {}


def test_events_wait_for_their_job_are_processed_once_and_can_be_replayed(engine, arrive):
    arrive(COMPLETED, {"job_id": "9", "status": "FAILED"})
    with engine.begin() as connection:
        assert unprocessed_jobs(connection) == ["17", "9"]
        (seen,) = events.of_job(connection, "17")
        assert events.mark_processed(connection, "17", up_to=seen.event_id) == 1
        assert events.mark_processed(connection, "17", up_to=seen.event_id) == 0
        assert unprocessed_jobs(connection) == ["9"]
    arrive({**COMPLETED, "downloadURL": "https://h/later"})  # came after we looked: not processed with the rest
    with engine.begin() as connection:
        assert unprocessed_jobs(connection) == ["9", "17"]
        assert events.replay(connection, "17") == 2
        assert unprocessed_jobs(connection) == ["17", "9"]


def test_an_event_that_was_seen_is_not_one_that_came_meanwhile(engine, arrive):
    arrive(QUEUED, COMPLETED)
    with engine.begin() as connection:
        first = events.of_job(connection, "17")[-1]
        events.mark_processed(connection, "17", up_to=first.event_id)
        assert unprocessed_jobs(connection) == ["17"]


def test_order_and_unknown_events_belong_to_no_job(engine, arrive):
    arrive({"order_id": "o-1", "status": "RECEIVED", "job_id": "17"}, {"something": "else"})
    assert _best_event(engine) is None
    with engine.connect() as connection:
        assert unprocessed_jobs(connection) == []
