"""confirm: a job that the platform has ended and whose log cannot be read keeps no change of its vendor waiting: the listing ends it (I2, I7, I15)."""

from __future__ import annotations

from decimal import Decimal
from functools import partialmethod

import httpx
import pytest

from partner_api import DownloadLimits
from shelfsync.catalog import log_limits
from shelfsync.catalog.steps import confirm, sync
from shelfsync.platform import client

pytestmark = pytest.mark.slow

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
VENDOR = "store-001"
SKUS = ("a", "b", "c")
LONG = {"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 1800}


def _shelf(world):
    world.platform.put_products(VENDOR, [{**A, "sku": sku} for sku in SKUS])
    for sku in SKUS:
        world.erp.put(VENDOR, sku, "1.00", None)
    assert world.sync("full")["accepted"] == len(SKUS)


@pytest.fixture
def shelf(world_after):
    """Three products whose first values are acknowledged; the deadline of a job is half an hour away."""
    return world_after(_shelf, sync=LONG)


def _job(world):
    (row,) = world.rows(
        "SELECT state, accepted, rejected, unaccounted, error FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1"
    )
    return row


def _stop_sell(world, sku="b"):
    """The next delta takes a product off sale: whether customers see it off sale after one run."""
    world.erp.put(VENDOR, sku, "1.00", None, 0)
    world.sync("delta")
    return world.shown()[sku]["active"] is False


NO_LOG = {
    "expired on the first fetch": ({"at": "log", "kind": "expired"},),
    **{f"the link answers {status}": ({"at": "log", "kind": f"status_{status}"},) for status in (401, 403, 404, 410)},
    "no bytes": ({"at": "log", "kind": "empty"},),
    "a link to a foreign host": ({"at": "job", "kind": "foreign_link", "url": "https://evil.example/x"},),
    "a page": ({"at": "log", "kind": "html_page"},),
}


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param(faults, id=name, marks=[pytest.mark.proof] if name.startswith("the link answers 4") else [])
        for name, faults in NO_LOG.items()
    ],
)
def test_the_listing_acknowledges_at_once_what_it_shows_and_the_next_stop_sell_goes(shelf, faults):
    shelf.platform.faults(*faults)
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)
    (price,) = shelf.rows("SELECT price FROM warehouse.baseline WHERE sku = 'a'")
    assert price.price == Decimal("2.000")
    assert _stop_sell(shelf)


@pytest.mark.parametrize("log", [(), ({"at": "log", "kind": "expired"},)], ids=["log", "expired"])
def test_a_link_beside_a_state_that_the_interface_does_not_have_ends_the_job_at_once(shelf, log):
    """Half an hour is left to the deadline: a wait for a known word would hold the stop-sell back."""
    shelf.platform.faults({"at": "job_status", "kind": "unknown_status"}, *log)
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)
    assert _stop_sell(shelf)


def test_a_log_longer_than_its_skus_allow_is_not_kept(shelf):
    """One SKU: 1 MiB and 4 KiB. The log of the sandbox would go on to 3 MiB."""
    shelf.platform.faults({"at": "log", "kind": "endless", "bytes": 3_000_000})
    logs = list(shelf.app.context.lake.folders())
    kept = {
        folder: list((shelf.settings.home.parent / "lake" / folder).iterdir())
        for folder in logs
        if folder.startswith("log")
    }
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)
    assert {folder: list((shelf.settings.home.parent / "lake" / folder).iterdir()) for folder in kept} == kept
    assert _stop_sell(shelf)


def test_a_log_that_drips_ends_the_job_after_one_window(shelf, monkeypatch):
    monkeypatch.setattr(
        DownloadLimits, "__init__", partialmethod(DownloadLimits.__init__, speed_grace_s=0.2, speed_window_s=0.5)
    )
    shelf.platform.faults({"at": "log", "kind": "drip", "seconds": 0.05})
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)
    assert shelf.rows("SELECT result_path FROM ledger.job ORDER BY job_id DESC LIMIT 1") == [(None,)]


@pytest.fixture
def judged_soon(monkeypatch):
    """A slow host is too slow after some two seconds."""
    slow = partialmethod(DownloadLimits.__init__, speed_grace_s=0.5, speed_window_s=2.0)
    monkeypatch.setattr(DownloadLimits, "__init__", slow)


def _second_of_two_ends_first(make_world):
    """A world of two stores after a full sync in which the log of the first by name dripped, and the second was done before it."""
    world = make_world(sync=LONG)
    for store in ("store-001", "store-002"):
        world.platform.put_products(store, [A])
        world.erp.put(store, "a", "2.00", None)
    world.platform.faults({"at": "log", "kind": "drip", "seconds": 0.1, "vendor": "store-001"})
    world.sync("full")
    ended = "SELECT vendor, state FROM ledger.job WHERE kind = 'catalog' ORDER BY ended_at"
    assert world.rows(ended) == [("store-002", "acknowledged"), ("store-001", "acknowledged")]
    return world


@pytest.mark.usefixtures("judged_soon")
def test_a_log_that_drips_holds_back_no_other_store(make_world):
    """Logs and exports alike: the first store by name drips, and the second is done before it."""
    stores = ["store-001", "store-002"]
    world = _second_of_two_ends_first(make_world)
    world.app.plan_exports("drips", stores)
    world.app.export_step("export", "drips", stores)
    world.app.wait_exports("drips", stores)
    report = world.app.export_step("observe", "drips", stores)
    assert (report["done"], list(report["failed"])) == (1, ["store-001"])
    assert "the least speed" in report["failed"]["store-001"]


@pytest.mark.usefixtures("judged_soon")
def test_many_logs_of_one_store_that_drip_hold_back_no_other_store(make_world):
    """More files of the first store than are downloaded at once: the second is done before them, and a slow host is asked once."""
    world = make_world(sync=LONG | {"body_max_bytes": 70, "downloads_at_once": 2})
    skus = [f"a{number}" for number in range(6)]
    for store, its in (("store-001", skus), ("store-002", ["a0"])):
        world.platform.put_products(store, [{**A, "sku": sku} for sku in its])
        for sku in its:
            world.erp.put(store, sku, "2.00", None)
    world.platform.faults({"at": "log", "kind": "drip", "seconds": 0.1, "vendor": "store-001"})
    world.sync("full")
    jobs = world.rows("SELECT vendor, state FROM ledger.job WHERE kind = 'catalog' ORDER BY ended_at")
    assert len(jobs) > 4
    assert jobs[0] == ("store-002", "acknowledged")
    assert {state for _, state in jobs} == {"acknowledged"}
    fetched = [entry for entry in world.platform.journal()["entries"] if entry["operation"] == "log"]
    assert len(fetched) == 2, "one of each store"


@pytest.mark.usefixtures("judged_soon")
def test_the_logs_of_all_stores_of_a_run_are_fetched_side_by_side(make_world, monkeypatch):
    """A run in one process acknowledges some stores at a time: one whose log drips holds up no store of a later group."""
    monkeypatch.setattr(sync, "TOGETHER", 1)
    _second_of_two_ends_first(make_world)


def test_a_log_of_few_skus_has_little_time_even_above_the_least_speed(shelf, monkeypatch, caplog):
    monkeypatch.setattr(log_limits, "LOG_FLOOR_S", 1.0)
    limits = partialmethod(DownloadLimits.__init__, least_bytes_per_s=0.5, speed_grace_s=1.0, speed_window_s=4.0)
    monkeypatch.setattr(client, "DownloadLimits", type("Limits", (DownloadLimits,), {"__init__": limits}))
    shelf.platform.faults({"at": "log", "kind": "drip", "seconds": 0.1})
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)
    assert "not done after 1.1 s" in caplog.text


def test_a_log_whose_outcomes_could_not_be_written_is_read_from_the_lake(shelf, monkeypatch):
    """A link may serve once: what was downloaded must not be lost with the process."""
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.erp.put(VENDOR, "unknown", "2.00", None)
    run_id, vendors = shelf.begin("delta", upto="deliver")
    shelf.app.wait(run_id, vendors)
    write_outcomes = confirm.write_outcomes

    def fails_once(*_, **__):
        monkeypatch.setattr(confirm, "write_outcomes", write_outcomes)
        shelf.platform.faults({"at": "log", "kind": "expired"})
        raise OSError("the disk is full")

    monkeypatch.setattr(confirm, "write_outcomes", fails_once)
    assert "the disk is full" in shelf.app.step("confirm", run_id, vendors)["failed"][VENDOR]
    asked = len(shelf.platform.journal()["entries"])
    assert shelf.app.step("confirm", run_id, vendors)["failed"] == {}
    assert len(shelf.platform.journal()["entries"]) == asked, "nothing is downloaded or asked again"
    shelf.app.step("acknowledge", run_id, vendors)
    assert _job(shelf)[:4] == ("acknowledged", 1, 1, 0)


def test_a_link_that_expires_between_the_event_and_the_fetch_ends_the_job(make_world, receiver):
    shelf = make_world(sync=LONG | {"poll_first_s": 3600, "poll_max_s": 3600}, platform={"job_status_path": ""})
    shelf.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    _shelf(shelf)
    shelf.erp.put(VENDOR, "a", "2.00", None)
    run_id, vendors = shelf.begin("delta", upto="deliver")
    shelf.app.wait(run_id, vendors)
    shelf.platform.faults({"at": "log", "kind": "expired"})
    for word in ("confirm", "acknowledge"):
        shelf.app.step(word, run_id, vendors)
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)
    assert _stop_sell(shelf)


def test_a_host_that_is_away_is_tried_by_one_more_run_and_then_the_listing_ends_it(shelf):
    shelf.platform.faults({"at": "log", "kind": "status_503"})
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf).state == "open"
    assert "503" in _job(shelf).error
    assert _stop_sell(shelf)
    states = shelf.rows("SELECT state FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id")
    assert states[1].state == "acknowledged"


def test_a_log_that_comes_at_the_second_try_counts(shelf):
    shelf.platform.faults({"at": "log", "kind": "status_503"})
    shelf.erp.put(VENDOR, "a", "2.00", 7)
    shelf.sync("delta")
    shelf.platform.faults()
    shelf.app.recover()
    assert tuple(_job(shelf)) == ("acknowledged", 1, 0, 0, None)


def test_what_the_listing_cannot_show_or_shows_otherwise_is_unknown_and_sent_again(shelf):
    shelf.platform.faults({"at": "log", "kind": "expired"}, {"at": "job", "kind": "not_applied"})
    shelf.erp.put(VENDOR, "a", "2.00", None)  # the listing shows 1.00
    shelf.erp.put(VENDOR, "b", "1.00", 7)  # and no quantity
    shelf.erp.put(VENDOR, "c", "1.00", None, 1, 3)  # and no sales limit
    (vendor,) = shelf.sync("delta")["vendors"]
    assert _job(shelf)[:4] == ("unconfirmed", 0, 0, 3)
    assert "none of its 3 SKUs is confirmed" in vendor["error"]
    shelf.platform.faults()
    assert shelf.sync("delta")["accepted"] == 3


def test_the_results_of_the_status_count_beside_the_listing(shelf):
    shelf.platform.faults({"at": "log", "kind": "expired"})
    for sku in (*SKUS, "unknown"):
        shelf.erp.put(VENDOR, sku, "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("acknowledged", 3, 1, 0)


@pytest.mark.parametrize("link", ["expired", "none"])
def test_a_failed_job_is_not_ended_by_the_listing(shelf, link):
    shelf.platform.faults(
        {"at": "job", "kind": "failed"}, *({"at": "log", "kind": "expired"} for _ in range(link == "expired"))
    )
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("unconfirmed", 0, 0, 1)
    assert "list_catalog" not in {entry["operation"] for entry in shelf.platform.journal()["entries"]}
    shelf.platform.faults()
    assert _stop_sell(shelf)


def test_a_value_that_the_listing_may_still_show_from_before_is_not_acknowledged_by_it(shelf):
    """1.00, then 2.00, then 1.00 again within the time that a change needs to show: the listing shows 1.00 whatever became of the last."""
    shelf.erp.put(VENDOR, "a", "2.00", None)
    assert shelf.sync("delta")["accepted"] == 1
    shelf.platform.faults({"at": "log", "kind": "expired"})
    shelf.erp.put(VENDOR, "a", "1.00", None)
    shelf.sync("delta")
    assert _job(shelf)[:4] == ("unconfirmed", 0, 0, 1)
    (outcome,) = shelf.rows("SELECT reason FROM warehouse.sku_outcome ORDER BY job_id DESC LIMIT 1")
    assert "may still show price 1.00 from before" in outcome.reason


def test_a_paused_vendor_keeps_its_job_open_until_it_is_resumed(shelf):
    shelf.platform.faults({"at": "log", "kind": "expired"}, {"at": "list_catalog", "kind": "status_429"})
    shelf.erp.put(VENDOR, "a", "2.00", None)
    shelf.sync("delta")
    assert _job(shelf).state == "open"
    shelf.platform.faults({"at": "log", "kind": "expired"})
    shelf.app.recover()
    assert _job(shelf)[:4] == ("acknowledged", 1, 0, 0)


def test_an_event_that_the_platform_contradicts_ends_no_job(make_world, receiver):
    """The platform still works at the job: a newer generation must not overtake it (I4)."""
    shelf = make_world(sync=LONG)
    _shelf(shelf)
    shelf.platform.faults({"at": "job", "kind": "stuck"})
    shelf.erp.put(VENDOR, "a", "2.00", None)
    run_id, vendors = shelf.begin("delta", upto="deliver")
    (job,) = shelf.rows("SELECT platform_job_id FROM ledger.job ORDER BY job_id DESC LIMIT 1")
    gone = f"{shelf.platform.base_url}/v2/chains/demo-chain/catalog/downloads/gone.csv"
    event = {"job_id": job.platform_job_id, "job_status": "COMPLETED", "download_url": gone}
    httpx.post(receiver.url, json=event, headers={"Authorization": "canary-webhook-1"}).raise_for_status()
    shelf.app.step("confirm", run_id, vendors)
    assert _job(shelf).state == "open"
