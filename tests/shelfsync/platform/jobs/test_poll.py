"""A job ends at its deadline even if its status call is rejected or throttled. shelfsync remembers that a platform has no such call."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.errors import TryAgainError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs import poll
from shelfsync.platform.jobs.table import Kind

VENDORS = ("store-001", "store-002", "store-003")
JSON = {"content_type": "application/json", "body": '{"code":"FORBIDDEN","message":"Missing Authentication Token"}'}
REJECTED = {
    "401": {"kind": "status_401", **JSON},
    "403 of the platform": {"kind": "status_403", **JSON},
    "403 without a body": {"kind": "status_403", "body": ""},
    "403 as a page": {"kind": "block_page"},
}
THROTTLED = {
    "429": {"kind": "status_429", "retry_after": "0"},
    "429 for an hour": {"kind": "status_429", "retry_after": "3000"},
}
SHORT = {"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 1.5}
PAUSES = {"requests_per_minute": 60_000, "pause_max_s": 0.2}
LONG = {"requests_per_minute": 60_000, "pause_max_s": 3.0, "wait_max_s": 0.1}
every_rejection = pytest.mark.parametrize("fault", REJECTED.values(), ids=REJECTED.keys())


@pytest.fixture
def make_shelf(make_world):
    """A product in three stores; no webhook is configured."""

    def make(*, deadline_s=1.5, rate_limit=PAUSES, vendors=VENDORS, sync=None, **sections):
        world = make_world(
            sync={**SHORT, "job_deadline_s": deadline_s, **(sync or {})}, rate_limit=rate_limit, **sections
        )
        for vendor in vendors:
            world.platform.put_products(
                vendor, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}]
            )
            world.erp.put(vendor, "a", "1.00")
        return world

    return make


def _states(world):
    return [row.state for row in world.rows("SELECT state FROM ledger.job ORDER BY job_id")]


def _asked(world, operation="job_status"):
    return [entry["status"] for entry in world.platform.journal()["entries"] if entry["operation"] == operation]


def _at_the_deadline(world, table="job"):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE ledger.{table} SET deadline_at = now() - interval '1 second'")


def _an_hour_later(world):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM ledger.platform_check")
        connection.exec_driver_sql("UPDATE rate_limit.allowance SET paused_until = NULL, strikes = 0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "rate_limit"),
    [*((fault, PAUSES) for fault in (*REJECTED.values(), *THROTTLED.values())), (THROTTLED["429 for an hour"], LONG)],
    ids=[*REJECTED, *THROTTLED, "429 for an hour, obeyed"],
)
def test_a_job_that_cannot_be_polled_ends_at_its_deadline_and_is_sent_again(make_shelf, fault, rate_limit):
    """The platform returns neither the job's status nor the listing."""
    world = make_shelf(vendors=VENDORS[:1], rate_limit=rate_limit)
    run_id, vendors = world.begin("full", upto="deliver")
    world.platform.faults({"at": "job_status", **fault}, {"at": "list_catalog", **fault})
    if rate_limit is LONG:
        world.rows("SELECT pg_sleep(0.1)")
        world.app.step("confirm", run_id, vendors)  # from now on our own gate lets no question out
    _at_the_deadline(world)
    report = world.app.step("confirm", run_id, vendors)
    assert _states(world) == ["unconfirmed"]
    assert "no confirmation came before the deadline" in report["failed"]["store-001"]
    assert str(fault["kind"][-3:]).replace("age", "403") in report["failed"]["store-001"]
    world.platform.faults()
    _an_hour_later(world)
    assert world.sync("delta")["accepted"] == 1


@pytest.mark.slow
def test_a_log_that_only_waits_for_our_own_pause_is_not_given_up(make_shelf):
    """The platform has reported the job's end. The pause is shelfsync's own, and ends."""
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1], rate_limit=LONG)
    run_id, vendors = world.begin("full", upto="deliver")
    world.platform.until_quiescent()
    world.platform.faults({"at": "log", "kind": "status_500"})
    world.rows("SELECT pg_sleep(0.1)")
    assert set(world.app.step("confirm", run_id, vendors)["failed"]) == {"store-001"}
    world.platform.faults()
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE rate_limit.allowance SET paused_until = now() + interval '1 hour', pause_reason = 'a test'"
        )
    _at_the_deadline(world)
    with pytest.raises(TryAgainError):
        world.app.step("confirm", run_id, vendors)
    assert _states(world) == ["open"]
    _an_hour_later(world)
    world.app.recover()
    assert _states(world) == ["acknowledged"]


@pytest.mark.slow
@every_rejection
def test_a_rejection_of_the_first_polls_means_that_the_platform_has_no_such_call(make_shelf, fault):
    """The platform gave the job its number with the same token. It is no failure, no pause each time, no new token each time."""
    world = make_shelf(deadline_s=60)
    run_id, vendors = world.begin("full", upto="deliver")
    world.platform.faults({"at": "job_status", **fault})
    world.rows("SELECT pg_sleep(0.1)")
    report = world.app.step("confirm", run_id, vendors)
    assert (report["failed"], set(report["skipped"])) == ({}, set(VENDORS))
    _at_the_deadline(world)
    assert set(world.app.step("confirm", run_id, vendors)["failed"]) == set(VENDORS)
    assert _states(world) == ["unconfirmed"] * 3
    assert len(_asked(world)) <= 2  # one question; its repeat with a new token after a 401
    assert len(_asked(world, "token")) <= 2
    assert world.rows("SELECT strikes FROM rate_limit.allowance WHERE strikes > 1") == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", [REJECTED["401"], REJECTED["403 of the platform"]], ids=["401", "403"])
def test_a_call_that_has_worked_and_is_rejected_is_a_failure_and_not_an_absence(make_shelf, fault):
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1])
    assert world.sync("full")["accepted"] == 1
    world.erp.put("store-001", "a", "2.00")
    run_id, vendors = world.begin("delta", upto="deliver")
    world.platform.faults({"at": "job_status", **fault})
    world.rows("SELECT pg_sleep(0.2)")
    assert "job_status" in world.app.step("confirm", run_id, vendors)["failed"]["store-001"]
    assert _states(world)[-1] == "open"
    world.platform.faults()
    world.app.recover()
    assert _states(world)[-1] == "acknowledged"


@pytest.mark.slow
@every_rejection
def test_a_call_that_worked_once_and_is_rejected_at_a_deadline_is_not_retried_for_a_while(make_shelf, fault):
    """Each question at a deadline would pause the installation or throw the token away, a vendor at a time."""
    world = make_shelf(deadline_s=60)
    assert world.sync("full")["accepted"] == 3
    for vendor in VENDORS:
        world.erp.put(vendor, "a", "2.00", 7)  # the listing shows no quantities
    run_id, vendors = world.begin("delta", upto="deliver")
    before = len(_asked(world))
    world.platform.faults({"at": "job_status", **fault})
    _at_the_deadline(world)
    assert set(world.app.step("confirm", run_id, vendors)["failed"]) == set(VENDORS)
    assert _states(world)[3:] == ["unconfirmed"] * 3
    assert len(_asked(world)) - before <= 2


@pytest.mark.slow
def test_a_client_that_gets_no_token_is_no_absence_of_the_call(make_shelf):
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1])
    run_id, vendors = world.begin("full", upto="deliver")
    world.platform.faults({"at": "job_status", "kind": "token_expired"}, {"at": "token", "kind": "status_401"})
    world.rows("SELECT pg_sleep(0.2)")
    report = world.app.step("confirm", run_id, vendors)
    assert "does not accept the client id and secret" in report["failed"]["store-001"]
    world.platform.faults()
    world.app.recover()
    assert _states(world) == ["acknowledged"]


@pytest.mark.slow
def test_a_vendor_whose_overdue_job_cannot_be_ended_fails_loudly(make_shelf):
    """Here the file of its items is damaged: run after run would find the vendor busy, and succeed."""
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1])
    world.begin("full", upto="deliver")
    (batch,) = world.rows("SELECT items_path FROM ledger.batch")
    Path(world.settings.lake_url, batch.items_path).write_bytes(b"no table")
    world.erp.put("store-001", "a", "2.00")
    summary = world.sync("delta")
    assert (summary["state"], summary["vendors"][0]["state"]) == ("partly", "busy")
    _at_the_deadline(world)
    summary = world.sync("delta")
    assert summary["state"] == "failed"
    assert "job 1" in summary["vendors"][0]["error"]
    assert "deadline" in summary["vendors"][0]["error"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [*REJECTED.values(), *THROTTLED.values()], ids=[*REJECTED, *THROTTLED])
def test_an_export_that_cannot_be_polled_fails_at_its_deadline(make_shelf, fault):
    world = make_shelf(vendors=VENDORS[:1], export={"deadline_s": 1.0}, sync={"vendors": "store-001"})
    world.platform.faults({"at": "job_status", **fault})
    summary = world.app.export("export/1", (), progress=lambda *_: None)
    assert summary["state"] == "failed"
    assert world.rows("SELECT state, ended_at IS NOT NULL FROM ledger.job WHERE kind = 'export'") == [("failed", True)]
    if fault in REJECTED.values():
        assert len(_asked(world)) <= 2
        assert len(_asked(world, "token")) <= 2
    world.platform.faults()
    _an_hour_later(world)
    assert world.app.export("export/2", (), progress=lambda *_: None)["state"] == "succeeded"


def test_an_export_that_our_own_pause_keeps_from_being_asked_about_fails_at_its_deadline(make_shelf):
    world = make_shelf(vendors=VENDORS[:1], rate_limit=LONG, sync={"vendors": "store-001"})
    for shard in world.app.plan_exports("export/1"):
        world.app.export_step("export", "export/1", shard["vendors"])
    _at_the_deadline(world)
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE rate_limit.allowance SET paused_until = now() + interval '1 hour', pause_reason = 'a test'"
        )
    assert "before its deadline" in world.app.export_step("observe", "export/1", VENDORS[:1])["failed"]["store-001"]
    assert world.rows("SELECT state FROM ledger.job WHERE kind = 'export'") == [("failed",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [REJECTED["401"], REJECTED["403 as a page"], THROTTLED["429 for an hour"]], ids=["401", "page", "429"]
)
def test_a_promotion_that_cannot_be_polled_is_unconfirmed_at_its_deadline(make_shop, fault):
    shop = make_shop(rate_limit=PAUSES, promotions={"job_deadline_s": 1.0})
    shop.erp.put("c1", "a", "8")
    before = len(_asked(shop.world, "token"))
    shop.world.platform.faults({"at": "promotion_status", **fault})
    assert shop.sync()["state"] == "failed"
    assert shop.rows("SELECT state FROM ledger.job WHERE kind = 'promotion'") == [("unconfirmed",)]
    if fault in REJECTED.values():
        assert len(_asked(shop.world, "promotion_status")) <= 2
        assert len(_asked(shop.world, "token")) - before <= 1
    shop.world.platform.faults()
    _an_hour_later(shop.world)
    assert shop.sync()["state"] == "succeeded"
    assert shop.seen() == {"a": 8}


def test_an_answer_that_comes_after_the_end_of_an_export_puts_no_link_back(make_shelf):
    """The link gives access to the whole assortment. shelfsync removes it when the export ends."""
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1], sync={"vendors": "store-001"})
    for shard in world.app.plan_exports("export/1"):
        world.app.export_step("export", "export/1", shard["vendors"])
    with world.app.context.engine.connect() as connection:
        (stale,) = export_jobs.of_run(connection, "export/1")
    assert world.app.export("export/1", (), progress=lambda *_: None)["state"] == "succeeded"
    with world.app.context.engine.begin() as connection:
        link = "https://files/1?signature=x"
        job_row.reported(connection, stale.job_id, platform_status="IN_PROGRESS", result_url=link, poll_after_s=1)
    assert world.rows("SELECT result_url, platform_status = 'IN_PROGRESS' FROM ledger.job") == [(None, False)]


@pytest.mark.parametrize(
    ("word", "ended"),
    [
        *((word, False) for word in ("QUEUED", "in progress", "In-Progress", "PROCESSING", "running", "PENDING ")),
        *((word, True) for word in ("COMPLETED", "failed", "PARTIALLY_DONE", "unknown", "", None)),
    ],
)
def test_a_link_beside_a_word_of_work_is_no_end(world, word, ended):
    assert poll._has_ended(world.app.context.kinds[Kind.CATALOG], word, linked=True) is ended
