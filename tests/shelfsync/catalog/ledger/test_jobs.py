from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.exc import IntegrityError

from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.ledger.tables import vendor
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.table import job


def test_the_open_jobs_of_a_vendor_are_of_one_plan_and_the_database_holds_that(ledger):
    (old,) = ledger.batch(*ledger.run())
    first = ledger.job(old)
    new, newer = ledger.batch(*ledger.run(), pieces=2)
    assert first is not None
    assert ledger.job(new) is None
    with ledger.engine.begin() as connection:
        job_row.end(connection, first, "acknowledged")
    assert ledger.job(new) is not None
    assert ledger.job(newer) is not None


def test_no_statement_brings_two_plans_of_a_vendor_together(ledger):
    """The database enforces the rule also if a person changes the state of a job, or the vendor's row, by hand."""
    (old,) = ledger.batch(*ledger.run())
    first = ledger.job(old)
    with ledger.engine.begin() as connection:
        job_row.end(connection, first, "acknowledged")
    (new,) = ledger.batch(*ledger.run())
    assert ledger.job(new) is not None
    by_hand = (
        job.update().where(job.c.job_id == first).values(state="open"),
        vendor.update().values(open_plan=vendor.c.open_plan + 1),
    )
    for statement in by_hand:
        with pytest.raises(IntegrityError, match="fk_job_one_open_plan"), ledger.engine.begin() as connection:
            connection.execute(statement)


def test_a_batch_has_at_most_one_open_job(ledger):
    (batch,) = ledger.batch(*ledger.run())
    assert ledger.job(batch) is not None
    assert ledger.job(batch) is None


def test_of_eight_plans_that_open_a_job_at_once_one_wins(ledger):
    ids = [ledger.batch(*ledger.run())[0] for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(ledger.job, ids))
    assert len([number for number in made if number is not None]) == 1


def _rows(ledger, statement):
    with ledger.engine.connect() as connection:
        return connection.exec_driver_sql(statement).all()


def test_of_two_processes_that_store_the_same_number_at_once_one_is_told_that_it_is_taken(ledger):
    jobs = [ledger.job(batch) for batch in ledger.batch(*ledger.run(), pieces=2)]
    number = {"platform_job_id": "p-1", "status": "QUEUED", "poll_after_s": 1}

    def second():
        with ledger.engine.begin() as connection:
            stored = job_row.answered(connection, jobs[1], **number)
            job_row.failed(connection, jobs[1], "the rest of the transaction stays")
        return stored

    with ThreadPoolExecutor(1) as pool:
        with ledger.engine.begin() as connection:
            assert job_row.answered(connection, jobs[0], **number)
            waiting = pool.submit(second)
            waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            while not _rows(ledger, waits):
                assert not waiting.done()
                time.sleep(0.02)
        assert waiting.result(30) is False
    with ledger.engine.connect() as connection:
        found = [catalog_jobs.read(connection, job_id) for job_id in jobs]
    assert [one.platform_job_id for one in found] == ["p-1", None]
    assert found[1].error == "the rest of the transaction stays"


@pytest.mark.parametrize("state", ["acknowledged", "unconfirmed", "failed", "rejected", "superseded"])
def test_a_job_at_its_end_lets_the_next_plan_go(ledger, state):
    (first,) = ledger.batch(*ledger.run())
    with ledger.engine.begin() as connection:
        job_row.end(connection, ledger.job(first), state)
    (second,) = ledger.batch(*ledger.run())
    assert ledger.job(second) is not None


def test_two_jobs_never_share_the_platforms_number(ledger):
    run_id, generation = ledger.run()
    first, second = ledger.batch(run_id, generation, pieces=2)
    one = ledger.job(first)
    with ledger.engine.begin() as connection:
        assert job_row.answered(connection, one, platform_job_id="p-1", status="QUEUED", poll_after_s=1)
        job_row.end(connection, one, "acknowledged")
    other = ledger.job(second)
    with ledger.engine.begin() as connection:
        assert not job_row.answered(connection, other, platform_job_id="p-1", status="QUEUED", poll_after_s=1)
        assert catalog_jobs.read(connection, other).state == "submitting"


def test_a_jobs_counts_must_add_up_to_what_was_sent(ledger):
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    with pytest.raises(IntegrityError, match="conservation"), ledger.engine.begin() as connection:
        job_row.confirmed(connection, number, outcomes_path="x", accepted=9, rejected=0, unaccounted=0)


def test_a_job_is_due_and_overdue_by_the_databases_clock(ledger):
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    with ledger.engine.begin() as connection:
        job_row.answered(connection, number, platform_job_id="p-2", status="QUEUED", poll_after_s=30)
        fresh = catalog_jobs.read(connection, number)
    assert not fresh.poll_due
    assert not fresh.overdue
    assert 25 < fresh.wait_s <= 30
    with ledger.engine.begin() as connection:
        connection.execute(job.update().values(next_poll_at=job.c.created_at, deadline_at=job.c.created_at))
        late = catalog_jobs.read(connection, number)
    assert late.poll_due
    assert late.overdue
    assert late.wait_s == 0


def test_a_link_to_a_log_does_not_outlive_its_job(ledger):
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    with ledger.engine.begin() as connection:
        job_row.reported(connection, number, platform_status="COMPLETED", result_url="https://x/?sig=1", poll_after_s=1)
        assert catalog_jobs.read(connection, number).result_url
        job_row.end(connection, number, "acknowledged")
        assert catalog_jobs.read(connection, number).result_url is None


def test_a_late_report_puts_no_link_back_into_an_ended_job(ledger):
    """The link gives access to the log. shelfsync removes it when the job ends, and a later report must not restore it."""
    run_id, generation = ledger.run()
    number = ledger.job(ledger.batch(run_id, generation)[0])
    report = {"result_url": "https://logs/1?signature=x", "poll_after_s": 1}
    with ledger.engine.begin() as connection:
        job_row.answered(connection, number, platform_job_id="p-3", status="QUEUED", poll_after_s=1)
        job_row.reported(connection, number, platform_status="COMPLETED", **report)
        assert catalog_jobs.read(connection, number).result_url == report["result_url"]
        outcomes = {"outcomes_path": "x", "accepted": 10, "rejected": 0, "unaccounted": 0}
        job_row.confirmed(connection, number, **outcomes)
        job_row.reported(connection, number, platform_status="IN_PROGRESS", **report)
        confirmed = catalog_jobs.read(connection, number)
        job_row.end(connection, number, "acknowledged")
        job_row.reported(connection, number, platform_status="IN_PROGRESS", **report)
        ended = catalog_jobs.read(connection, number)
    assert (confirmed.platform_status, confirmed.polls) == ("COMPLETED", 2)
    assert (ended.result_url, ended.platform_status, ended.polls) == (None, "COMPLETED", 2)


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "export"},
        {"kind": "anything"},
        {"batch_id": None},
        {"plan": None},
        {"sent": None},
        {"state": "planned"},
        {"state": "anything"},
    ],
    ids=str,
)
def test_the_database_holds_that_a_job_has_the_request_of_its_own_kind(ledger, values):
    number = ledger.job(ledger.batch(*ledger.run())[0])
    with pytest.raises(IntegrityError, match=r"kind|state"), ledger.engine.begin() as connection:
        connection.execute(job.update().where(job.c.job_id == number).values(values))
