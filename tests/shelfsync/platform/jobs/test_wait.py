"""Job events hurry the work and never carry it: with them a wait ends at once, without them it ends all the same."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from shelfsync.platform.jobs import wait
from shelfsync.platform.jobs.table import Kind

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
NEVER_ASKED = {"poll_first_s": 3600, "poll_max_s": 3600, "job_deadline_s": 60}


@pytest.fixture
def webhook_world(make_world, receiver):
    """A world that never polls and gets webhooks."""
    world = make_world(sync=NEVER_ASKED)
    world.platform.control("PUT", "settings", {"job_seconds": 0.3})
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    return world


def _job_number(world) -> str:
    return world.rows("SELECT platform_job_id FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1")[0][
        0
    ]


@pytest.mark.slow
def test_with_a_webhook_a_vendor_needs_two_requests_a_cycle_an_update_and_a_log(webhook_world):
    webhook_world.platform.put_products("store-002", [A])
    webhook_world.erp.put("store-002", "a", "2.00")
    for kind, price in (("full", "2.00"), ("delta", "3.00")):
        for vendor in ("store-001", "store-002"):
            webhook_world.erp.put(vendor, "a", price)
        summary = webhook_world.sync(kind)
        assert (summary["state"], summary["accepted"], summary["bound"]["requests"]) == ("succeeded", 2, 4)
    requests = webhook_world.app.status()["requests"]
    assert {name: requests["by"].get(name) for name in ("put_catalog", "download", "job_status")} == {
        "put_catalog": 4,
        "download": 4,
        "job_status": None,
    }
    assert requests["polls_share"] == 0
    assert webhook_world.rows("SELECT count(*) FROM inbox.event WHERE processed_at IS NULL") == [(0,)]


@pytest.mark.slow
def test_the_source_of_a_jobs_end_is_stored_and_a_lost_webhook_is_reported(make_world, receiver):
    world = make_world(sync={"poll_first_s": 2.0})
    world.platform.control("PUT", "settings", {"job_seconds": 0.3})
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    confirmed = world.sync("full")
    assert (confirmed["polled"], confirmed["ended"]) == (0, 1)
    world.platform.faults({"at": "job_webhook", "kind": "lost"})
    world.erp.put("store-001", "a", "3.00")
    lost = world.sync("delta")
    assert (lost["state"], lost["accepted"], lost["polled"], lost["ended"]) == ("succeeded", 1, 1, 1)
    assert not [line for line in confirmed["lines"] if "without a webhook" in line]
    assert [line for line in lost["lines"] if line.startswith("1 of 1 jobs ended without a webhook")]
    jobs = "SELECT end_reported_by FROM warehouse.catalog_job ORDER BY job_id"
    assert world.rows(jobs) == [("webhook",), ("poll",)]
    number = _job_number(world)
    late = {"job_id": number, "job_status": "COMPLETED", "downloadURL": "http://127.0.0.1:1/x"}
    assert httpx.post(receiver.url, json=late, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    world.app.recover()
    assert world.rows(jobs)[1] == ("poll",)
    assert world.rows("SELECT sum(jobs), sum(by_webhook), sum(by_poll) FROM warehouse.confirmation") == [(2, 1, 1)]


@pytest.mark.slow
def test_an_event_that_came_before_the_wait_began_is_not_missed(webhook_world):
    run_id, vendors = webhook_world.begin("full", upto="deliver")
    webhook_world.platform.until_quiescent()
    deadline = time.monotonic() + 20
    while not webhook_world.rows("SELECT 1 FROM inbox.event") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert webhook_world.app.wait(run_id, vendors)["left"] == 0
    assert webhook_world.app.step("confirm", run_id, vendors)["done"] == 1


@pytest.mark.slow
def test_an_event_that_came_before_its_job_was_known_is_found_when_it_is(webhook_world, receiver):
    """A webhook may overtake the 202: the event waits in the inbox for its job."""
    run_id, vendors = webhook_world.begin("full", upto="deliver")
    number = _job_number(webhook_world)
    assert (
        webhook_world.rows("SELECT count(*) FROM inbox.event AS e LEFT JOIN ledger.job AS j USING (platform_job_id)")
        is not None
    )
    stranger = {"job_id": "unknown-job", "job_status": "COMPLETED", "downloadURL": "http://127.0.0.1:1/x"}
    assert httpx.post(receiver.url, json=stranger, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    webhook_world.app.wait(run_id, vendors)
    assert webhook_world.app.step("confirm", run_id, vendors)["failed"] == {}
    assert webhook_world.rows(f"SELECT state FROM ledger.job WHERE platform_job_id = '{number}'") == [("confirmed",)]


@pytest.fixture
def end_event(make_world, receiver):
    """Sends a request of two SKUs, of which the platform knows one, and then an event of the job's end without a link."""

    def end(body: dict, **platform: str):
        world = make_world(sync=NEVER_ASKED | {"readback_requests_max": 0}, platform=platform)
        world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
        world.platform.put_products("store-001", [A])
        for sku in ("a", "unknown"):
            world.erp.put("store-001", sku, "2.00")
        run_id, vendors = world.begin("full", upto="deliver")
        world.platform.until_quiescent()
        world.platform.faults({"at": "log", "kind": "expired"})
        sent = {"job_id": _job_number(world), "job_status": "COMPLETED", **body}
        assert httpx.post(receiver.url, json=sent, headers={"Authorization": "canary-webhook-1"}).status_code == 200
        for step in ("confirm", "acknowledge"):
            world.app.step(step, run_id, vendors)
        counts = world.rows("SELECT accepted, rejected, unaccounted FROM ledger.job")
        return counts, [row.reason for row in world.rows("SELECT reason FROM ledger.rejection")]

    return end


@pytest.mark.slow
def test_an_end_without_a_link_leaves_the_results_that_the_platform_is_polled_for(end_event):
    counts, reasons = end_event({})
    assert (counts, len(reasons)) == ([(0, 1, 1)], 1)


@pytest.mark.slow
def test_an_end_without_a_link_has_results_of_its_own_that_count_where_there_is_no_log(end_event):
    results = [
        {"sku": "a", "status": "success"},
        {"sku": "unknown", "status": "failed", "rejection_reasons": [{"rejected_reason": "no such product"}]},
    ]
    counts, reasons = end_event({"result": {"item_level_feedback": results}}, job_status_path="")
    assert (counts, reasons) == ([(1, 1, 0)], ["no such product"])


@pytest.mark.slow
def test_the_log_counts_before_the_results_of_an_event(webhook_world, receiver):
    """The event may list the rejected SKUs alone."""
    webhook_world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    run_id, vendors = webhook_world.begin("full", upto="deliver")
    webhook_world.platform.until_quiescent()
    end = {"job_id": _job_number(webhook_world), "job_status": "COMPLETED", "result": {"item_level_feedback": []}}
    assert httpx.post(receiver.url, json=end, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    webhook_world.app.step("confirm", run_id, vendors)
    assert webhook_world.rows("SELECT accepted, unaccounted FROM ledger.job") == [(1, 0)]


def test_a_forged_event_is_rejected_and_changes_nothing(webhook_world, receiver):
    webhook_world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    webhook_world.begin("full", upto="deliver")
    forged = {"job_id": _job_number(webhook_world), "job_status": "COMPLETED", "downloadURL": "http://127.0.0.1:1/evil"}
    assert httpx.post(receiver.url, json=forged, headers={"Authorization": "guessed"}).status_code == 401
    assert webhook_world.rows("SELECT count(*) FROM inbox.event") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "event",
    [
        {"downloadURL": "http://169.254.169.254/latest/meta-data"},
        {"downloadURL": "https://evil.example/log.csv"},
        {"download_url": "file:///etc/passwd"},
        {"platform_vendor_id": "store-006", "downloadURL": "https://evil.example/log.csv"},
    ],
    ids=["metadata address", "foreign host", "a file", "another vendor"],
)
def test_a_genuine_event_with_a_foreign_link_moves_nothing_until_the_platform_itself_is_asked(
    webhook_world, receiver, event
):
    webhook_world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    run_id, vendors = webhook_world.begin("full", upto="deliver")
    body = {"job_id": _job_number(webhook_world), "job_status": "COMPLETED", **event}
    assert httpx.post(receiver.url, json=body, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    webhook_world.platform.until_quiescent()
    report = webhook_world.app.step("confirm", run_id, vendors)
    job = webhook_world.rows("SELECT state, accepted FROM ledger.job")[0]
    assert (report["done"], tuple(job)) in {(1, ("confirmed", 1)), (0, ("open", None))}
    evil = [entry for entry in webhook_world.platform.journal()["entries"] if "evil" in str(entry)]
    assert evil == []


@pytest.mark.slow
def test_a_hundred_repeats_of_an_event_have_one_effect(webhook_world, receiver):
    summary = webhook_world.sync("full")
    body = {"job_id": _job_number(webhook_world), "job_status": "FAILED"}
    for _ in range(100):
        httpx.post(receiver.url, json=body, headers={"Authorization": "canary-webhook-1"})
    webhook_world.app.recover()
    assert webhook_world.rows("SELECT state FROM ledger.job") == [("acknowledged",)]
    assert webhook_world.app.report(summary["run"])["accepted"] == 1


@pytest.mark.slow
def test_a_job_without_any_report_is_unconfirmed_at_its_deadline_and_sent_again(make_world):
    world = make_world(sync={**NEVER_ASKED, "job_deadline_s": 1.5}, platform={"job_status_path": ""})
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    summary = world.sync("full")
    assert summary["state"] == "failed"
    assert "no confirmation came before the deadline" in summary["error"]
    assert world.rows("SELECT state, unaccounted FROM ledger.job") == [("unconfirmed", 1)]
    assert world.rows("SELECT sku, price, quantity, active FROM warehouse.baseline") == [("a", None, None, None)]
    assert world.sync("delta")["sent"] == 1


class Wait:
    """The production wait for the job of a run, with a count of its looks at the tables; no question is due and no look of its own."""

    def __init__(self, world, receiver, run_id, vendors) -> None:
        self.looks = 0
        self._world, self._receiver, self._run_id, self._vendors = world, receiver, run_id, vendors
        self.task = asyncio.create_task(wait.until_none(world.app.context, self._look, deadline_s=60))

    def _look(self):
        self.looks += 1
        return wait.waiting(self._world.app.context, Kind.CATALOG, self._run_id, self._vendors)

    async def connected(self) -> None:
        """Until the second look, which the connection to the database causes."""
        await asyncio.to_thread(self._until_looks, 2)

    def _until_looks(self, looks: int) -> None:
        while self.looks < looks:
            time.sleep(0.05)

    async def event(self, job: str) -> None:
        body = {"job_id": job, "job_status": "COMPLETED"}
        headers = {"Authorization": "canary-webhook-1"}
        answer = await asyncio.to_thread(httpx.post, self._receiver.url, json=body, headers=headers)
        assert answer.status_code == 200


LISTENING = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()"


@pytest.fixture
def sent(webhook_world, monkeypatch):
    """A run whose job is with a platform that reports nothing by itself."""
    monkeypatch.setattr(wait, "LOOK_AGAIN_S", 60.0)
    webhook_world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    return webhook_world.begin("full", upto="deliver")


def test_an_event_of_another_job_asks_the_database_nothing(webhook_world, receiver, sent):
    async def scenario():
        one = Wait(webhook_world, receiver, *sent)
        await one.connected()
        before = one.looks
        for job in ("of-another-vendor", "\N{OPTICAL DISC}" * 255):  # the longest payload
            await one.event(job)
        await one.event(_job_number(webhook_world))  # notifications come in the order of their commits
        assert await asyncio.wait_for(one.task, 20) == {"ended": 1, "left": 0}
        assert one.looks == before + 1

    asyncio.run(scenario())
    assert webhook_world.rows("SELECT count(*) FROM inbox.event") == [(3,)]


def test_after_a_lost_connection_the_wait_looks_once_at_everything(webhook_world, receiver, sent):
    async def scenario():
        one = Wait(webhook_world, receiver, *sent)
        await one.connected()
        webhook_world.rows(LISTENING.replace("SELECT pid", "SELECT pg_terminate_backend(pid)"))
        await one.event(_job_number(webhook_world))
        assert await asyncio.wait_for(one.task, 20) == {"ended": 1, "left": 0}

    asyncio.run(scenario())


def test_a_notification_during_a_look_is_not_lost():
    from shelfsync.inbox.events import Subscription

    async def took(*during: str, at_most_s: float = 60) -> float:
        subscription = Subscription()
        subscription.look()
        for job in during:
            subscription.notify(job)
        began = time.monotonic()
        await subscription.pause(at_most_s, {"7"})
        return time.monotonic() - began

    assert asyncio.run(took("7")) < 30
    assert asyncio.run(took("8", at_most_s=0.5)) >= 0.4
    assert asyncio.run(took(*map(str, range(5000, 8000)))) < 30, "beyond what is kept, every notification counts"
