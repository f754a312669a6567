from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.exc import IntegrityError

from shelfsync.ledger import jobs
from shelfsync.ledger.tables import job


def test_a_vendor_has_at_most_one_open_job_and_the_database_says_so(ledger):
    run_id, generation = ledger.run()
    first, second = ledger.batch(run_id, generation, pieces=2)
    assert ledger.job(first) is not None
    assert ledger.job(second) is None


def test_of_eight_that_open_a_job_at_once_one_wins(ledger):
    run_id, generation = ledger.run()
    ids = ledger.batch(run_id, generation, pieces=8)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(ledger.job, ids))
    assert len([number for number in made if number is not None]) == 1


@pytest.mark.parametrize("state", ["acknowledged", "unconfirmed", "failed", "refused", "superseded"])
def test_a_job_at_its_end_lets_the_next_one_go(ledger, state):
    run_id, generation = ledger.run()
    first, second = ledger.batch(run_id, generation, pieces=2)
    with ledger.engine.begin() as connection:
        jobs.end(connection, ledger.job(first), state)
    assert ledger.job(second) is not None


def test_two_jobs_never_share_the_platforms_number(ledger):
    run_id, generation = ledger.run()
    first, second = ledger.batch(run_id, generation, pieces=2)
    one = ledger.job(first)
    with ledger.engine.begin() as connection:
        assert jobs.answered(connection, one, platform_job_id="p-1", status="QUEUED", poll_after_s=1)
        jobs.end(connection, one, "acknowledged")
    other = ledger.job(second)
    with ledger.engine.begin() as connection:
        assert not jobs.answered(connection, other, platform_job_id="p-1", status="QUEUED", poll_after_s=1)
        assert jobs.read(connection, other).state == "submitting"


def test_a_jobs_counts_must_add_up_to_what_was_sent(ledger):
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    with pytest.raises(IntegrityError, match="conservation"), ledger.engine.begin() as connection:
        jobs.confirmed(connection, number, outcomes_path="x", accepted=9, refused=0, unaccounted=0)


def test_a_job_is_due_and_overdue_by_the_databases_clock(ledger):
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    with ledger.engine.begin() as connection:
        jobs.answered(connection, number, platform_job_id="p-2", status="QUEUED", poll_after_s=30)
        fresh = jobs.read(connection, number)
    assert not fresh.poll_due
    assert not fresh.overdue
    assert 25 < fresh.wait_s <= 30
    with ledger.engine.begin() as connection:
        connection.execute(job.update().values(next_poll_at=job.c.created_at, deadline_at=job.c.created_at))
        late = jobs.read(connection, number)
    assert late.poll_due
    assert late.overdue
    assert late.wait_s == 0


def test_a_link_to_a_log_does_not_outlive_its_job(ledger):
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    with ledger.engine.begin() as connection:
        jobs.heard(connection, number, status="COMPLETED", log_url="https://x/?sig=1", feedback=None, poll_after_s=1)
        assert jobs.read(connection, number).log_url
        jobs.end(connection, number, "acknowledged")
        assert jobs.read(connection, number).log_url is None


def test_what_is_heard_after_its_end_puts_no_link_back_into_a_job(ledger):
    """The link opens the log to whoever has it; it goes when the job ends, and an answer may come later."""
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    told = {"log_url": "https://logs/1?signature=x", "feedback": None, "poll_after_s": 1}
    with ledger.engine.begin() as connection:
        jobs.answered(connection, number, platform_job_id="p-3", status="QUEUED", poll_after_s=1)
        jobs.heard(connection, number, status="COMPLETED", **told)
        assert jobs.read(connection, number).log_url == told["log_url"]
        outcomes = {"outcomes_path": "x", "accepted": 10, "refused": 0, "unaccounted": 0}
        jobs.confirmed(connection, number, **outcomes)
        jobs.heard(connection, number, status="IN_PROGRESS", **told)
        confirmed = jobs.read(connection, number)
        jobs.end(connection, number, "acknowledged")
        jobs.heard(connection, number, status="IN_PROGRESS", **told)
        ended = jobs.read(connection, number)
    assert (confirmed.platform_status, confirmed.polls) == ("COMPLETED", 2)
    assert (ended.log_url, ended.platform_status, ended.polls) == (None, "COMPLETED", 2)
