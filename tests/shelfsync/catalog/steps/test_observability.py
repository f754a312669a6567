"""What a run reports: fields of its log records, metrics of its work, and a correct status."""

from __future__ import annotations

import logging

import pytest
from structlog.contextvars import get_contextvars

from shelfsync import metrics

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


class RecordingSink:
    """A metrics sink that stores every value."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.gauges: dict[str, float] = {}
        self.timings: list[str] = []

    def count(self, name: str, by: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + by

    def gauge(self, name: str, value: float) -> None:
        self.gauges[name] = value

    def timing(self, name: str, seconds: float) -> None:
        assert seconds >= 0
        self.timings.append(name)


@pytest.fixture
def metrics_sink():
    sink = RecordingSink()
    metrics.use(sink)
    yield sink
    metrics.use(None)


@pytest.fixture
def shop(world):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
    for sku in ("a", "b", "unknown"):
        world.erp.put("store-001", sku, "1.00")
    return world


def _row(world):
    (row,) = world.app.status()["vendors"]
    return row


def test_a_run_reports_metrics_named_after_its_steps(shop, metrics_sink):
    shop.sync("full")
    assert (metrics_sink.counts["deliver.requests"], metrics_sink.counts["deliver.skus"]) == (1, 3)
    assert (metrics_sink.counts["confirm.skus.accepted"], metrics_sink.counts["confirm.skus.rejected"]) == (2, 1)
    assert "confirm.skus.unaccounted" not in metrics_sink.counts
    assert metrics_sink.counts["rate_limit.requests.catalog"] >= 1
    assert metrics_sink.counts["rate_limit.answers.catalog.202"] == 1
    steps = ("normalise", "diff", "guard", "batch", "deliver", "confirm", "acknowledge")
    assert [metrics_sink.counts[f"{step}.vendors.done"] for step in steps] == [1] * len(steps)
    assert {f"{step}.vendor" for step in steps} <= set(metrics_sink.timings)
    assert metrics_sink.gauges["jobs.open"] == 0
    assert metrics_sink.gauges["skus.rejected_for_good"] == 1
    assert metrics_sink.gauges["oldest_unacknowledged_s"] == 0


def test_every_record_of_a_step_knows_its_run_and_vendor(shop):
    seen = []

    class Keep(logging.Handler):
        def emit(self, record):
            seen.append((record.getMessage(), dict(get_contextvars())))

    logger, keep = logging.getLogger("shelfsync.catalog.steps"), Keep()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(keep)
    try:
        run_id = shop.sync("full")["run"]
    finally:
        logger.removeHandler(keep)
        logger.setLevel(level)
    confirmed = [fields for message, fields in seen if message.startswith("confirm:")]
    job = shop.rows("SELECT job_id FROM ledger.job")[0].job_id
    assert confirmed == [{"run": run_id, "vendor": "store-001", "step": "confirm", "job": job}]
    assert get_contextvars() == {}


@pytest.mark.slow
def test_the_status_follows_a_change_from_pending_to_acknowledged(shop):
    shop.sync("full")
    done = _row(shop)
    assert (done["acknowledged"], done["pending"], done["in_flight"], done["rejected"]) == (2, 0, 0, 1)
    assert done["oldest_unacknowledged_s"] is None
    shop.erp.put("store-001", "a", "2.00")
    run_id, vendors = shop.begin("delta", upto="batch")
    waiting = _row(shop)
    assert (waiting["pending"], waiting["in_flight"]) == (1, 0)
    shop.rows("SELECT pg_sleep(0.2)")
    assert _row(shop)["oldest_unacknowledged_s"] > waiting["oldest_unacknowledged_s"] >= 0
    shop.app.step("deliver", run_id, vendors)
    assert (_row(shop)["pending"], _row(shop)["in_flight"]) == (0, 1)
    shop.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        shop.app.step(word, run_id, vendors)
    after = _row(shop)
    assert (after["pending"], after["in_flight"], after["oldest_unacknowledged_s"]) == (0, 0, None)


@pytest.mark.slow
def test_the_age_counts_from_the_reading_that_saw_the_change_and_not_from_the_last_step(shop):
    shop.sync("full")
    shop.erp.put("store-001", "a", "2.00")
    run_id, vendors = shop.begin("delta", upto="diff")
    shop.rows("SELECT pg_sleep(0.5)")
    shop.app.step("guard", run_id, vendors)
    assert _row(shop)["oldest_unacknowledged_s"] >= 0.5
    assert _row(shop)["pending"] == 1


@pytest.mark.slow
def test_skus_without_an_outcome_keep_the_age_running(make_world):
    world = make_world(sync={"poll_first_s": 0.05, "poll_max_s": 0.1, "job_deadline_s": 30})
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    world.platform.faults({"at": "log", "kind": "missing_sku", "times": 1})
    assert world.sync("full")["unaccounted"] == 1
    assert _row(world)["oldest_unacknowledged_s"] is not None
    world.platform.faults()
    assert world.sync("delta")["accepted"] == 1
    assert _row(world)["oldest_unacknowledged_s"] is None
