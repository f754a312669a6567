"""A job ends at its deadline even if its status call is rejected or throttled."""

from __future__ import annotations

from pathlib import Path

import pytest

from polled_jobs import PAUSES, REJECTED, VENDORS, asked, put_at_the_deadline, states
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.errors import TryAgainError
from shelfsync.platform.jobs import job as job_row

THROTTLED = {
    "429": {"kind": "status_429", "retry_after": "0"},
    "429 for an hour": {"kind": "status_429", "retry_after": "3000"},
}
LONG = {"requests_per_minute": 60_000, "pause_max_s": 3.0, "wait_max_s": 0.1}


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
    put_at_the_deadline(world)
    report = world.app.step("confirm", run_id, vendors)
    assert states(world) == ["unconfirmed"]
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
    put_at_the_deadline(world)
    with pytest.raises(TryAgainError):
        world.app.step("confirm", run_id, vendors)
    assert states(world) == ["open"]
    _an_hour_later(world)
    world.app.recover()
    assert states(world) == ["acknowledged"]


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
    put_at_the_deadline(world)
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
        assert len(asked(world)) <= 2
        assert len(asked(world, "token")) <= 2
    world.platform.faults()
    _an_hour_later(world)
    assert world.app.export("export/2", (), progress=lambda *_: None)["state"] == "succeeded"


def test_an_export_that_our_own_pause_keeps_from_being_asked_about_fails_at_its_deadline(make_shelf):
    world = make_shelf(vendors=VENDORS[:1], rate_limit=LONG, sync={"vendors": "store-001"})
    for shard in world.app.plan_exports("export/1"):
        world.app.export_step("export", "export/1", shard["vendors"])
    put_at_the_deadline(world)
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
    before = len(asked(shop.world, "token"))
    shop.world.platform.faults({"at": "promotion_status", **fault})
    assert shop.sync()["state"] == "failed"
    assert shop.rows("SELECT state FROM ledger.job WHERE kind = 'promotion'") == [("unconfirmed",)]
    if fault in REJECTED.values():
        assert len(asked(shop.world, "promotion_status")) <= 2
        assert len(asked(shop.world, "token")) - before <= 1
    shop.world.platform.faults()
    _an_hour_later(shop.world)
    assert shop.sync()["state"] == "partly_failed", "it is not known to run, and waits for its next try"
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.promotion SET retry_at = ledger.instant()")
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
