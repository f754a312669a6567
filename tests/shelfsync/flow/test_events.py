"""Job events hurry the work and never carry it: with them a wait ends at once, without them it ends all the same."""

from __future__ import annotations

import time

import httpx
import pytest

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
NEVER_ASKED = {"poll_first_s": 3600, "poll_max_s": 3600, "job_deadline_s": 60}


@pytest.fixture
def heard(make_world, receiver):
    """A world that never asks about its jobs and is told by webhook."""
    world = make_world(sync=NEVER_ASKED)
    world.platform.control("PUT", "settings", {"job_seconds": 0.3})
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    return world


def _job_number(world) -> str:
    return world.rows("SELECT platform_job_id FROM ledger.job ORDER BY job_id DESC LIMIT 1")[0][0]


def test_a_webhook_ends_the_wait_without_a_question(heard):
    began = time.monotonic()
    summary = heard.sync("full")
    assert (summary["state"], summary["accepted"]) == ("succeeded", 1)
    assert time.monotonic() - began < 20
    operations = {entry["operation"] for entry in heard.platform.journal()["entries"]}
    assert "job_status" not in operations
    assert heard.rows("SELECT count(*) FROM inbox.event WHERE processed_at IS NULL") == [(0,)]


def test_how_the_end_was_heard_of_is_kept_and_a_lost_webhook_is_named_in_the_report(make_world, receiver):
    world = make_world(sync={"poll_first_s": 2.0})
    world.platform.control("PUT", "settings", {"job_seconds": 0.3})
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    heard = world.sync("full")
    assert (heard["asked"], heard["told"]) == (0, 1)
    world.platform.faults({"at": "job_webhook", "kind": "lost"})
    world.erp.put("store-001", "a", "3.00")
    lost = world.sync("delta")
    assert (lost["state"], lost["accepted"], lost["asked"], lost["told"]) == ("succeeded", 1, 1, 1)
    assert not [line for line in heard["lines"] if "without a webhook" in line]
    assert [line for line in lost["lines"] if line.startswith("1 of 1 jobs ended without a webhook")]
    jobs = "SELECT heard_by FROM warehouse.catalog_job ORDER BY job_id"
    assert world.rows(jobs) == [("webhook",), ("question",)]
    number = _job_number(world)
    late = {"job_id": number, "job_status": "COMPLETED", "downloadURL": "http://127.0.0.1:1/x"}
    assert httpx.post(receiver.url, json=late, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    world.house.settle()
    assert world.rows(jobs)[1] == ("question",)
    assert world.rows("SELECT sum(jobs), sum(by_webhook), sum(by_question) FROM warehouse.confirmation") == [(2, 1, 1)]


def test_an_event_that_came_before_the_wait_began_is_not_missed(heard):
    run_id, vendors = heard.begin("full", upto="deliver")
    heard.platform.until_settled()
    deadline = time.monotonic() + 20
    while not heard.rows("SELECT 1 FROM inbox.event") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert heard.house.wait(run_id, vendors)["left"] == 0
    assert heard.house.step("confirm", run_id, vendors)["done"] == 1


def test_an_event_that_came_before_its_job_was_known_is_found_when_it_is(heard, receiver):
    """A webhook may overtake the 202: the event waits in the inbox for its job."""
    run_id, vendors = heard.begin("full", upto="deliver")
    number = _job_number(heard)
    assert (
        heard.rows("SELECT count(*) FROM inbox.event AS e LEFT JOIN ledger.job AS j USING (platform_job_id)")
        is not None
    )
    stranger = {"job_id": "nobody-knows-this", "job_status": "COMPLETED", "downloadURL": "http://127.0.0.1:1/x"}
    assert httpx.post(receiver.url, json=stranger, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    heard.house.wait(run_id, vendors)
    assert heard.house.step("confirm", run_id, vendors)["failed"] == {}
    assert heard.rows(f"SELECT state FROM ledger.job WHERE platform_job_id = '{number}'") == [("confirmed",)]


def test_a_forged_event_is_refused_and_changes_nothing(heard, receiver):
    heard.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    heard.begin("full", upto="deliver")
    forged = {"job_id": _job_number(heard), "job_status": "COMPLETED", "downloadURL": "http://127.0.0.1:1/evil"}
    assert httpx.post(receiver.url, json=forged, headers={"Authorization": "guessed"}).status_code == 401
    assert heard.rows("SELECT count(*) FROM inbox.event") == [(0,)]


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
def test_a_genuine_event_with_a_foreign_link_moves_nothing_until_the_platform_itself_is_asked(heard, receiver, event):
    heard.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    run_id, vendors = heard.begin("full", upto="deliver")
    body = {"job_id": _job_number(heard), "job_status": "COMPLETED", **event}
    assert httpx.post(receiver.url, json=body, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    heard.platform.until_settled()
    told = heard.house.step("confirm", run_id, vendors)
    job = heard.rows("SELECT state, accepted FROM ledger.job")[0]
    assert (told["done"], tuple(job)) in {(1, ("confirmed", 1)), (0, ("open", None))}
    evil = [entry for entry in heard.platform.journal()["entries"] if "evil" in str(entry)]
    assert evil == []


def test_a_hundred_repeats_of_an_event_have_one_effect(heard, receiver):
    summary = heard.sync("full")
    body = {"job_id": _job_number(heard), "job_status": "FAILED"}
    for _ in range(100):
        httpx.post(receiver.url, json=body, headers={"Authorization": "canary-webhook-1"})
    heard.house.settle()
    assert heard.rows("SELECT state FROM ledger.job") == [("acknowledged",)]
    assert heard.house.report(summary["run"])["accepted"] == 1


def test_a_job_of_which_nothing_is_ever_heard_is_unconfirmed_at_its_deadline_and_sent_again(make_world):
    world = make_world(sync={**NEVER_ASKED, "job_deadline_s": 1.5}, platform={"job_status_path": ""})
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    summary = world.sync("full")
    assert summary["state"] == "failed"
    assert "no confirmation came before the deadline" in summary["error"]
    assert world.rows("SELECT state, unaccounted FROM ledger.job") == [("unconfirmed", 1)]
    assert world.rows("SELECT sku, price, quantity, active FROM warehouse.baseline") == [("a", None, None, None)]
    assert world.sync("delta")["sent"] == 1
