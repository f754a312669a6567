"""What a run reports: fields of its log records, metrics of its work, and a correct status."""

from __future__ import annotations

import logging

import pytest
from structlog.contextvars import get_contextvars

from shelfsync.catalog.steps.status import report_gauges

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


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


def _finish(shop, run_id, vendors):
    """The rest of a run whose requests are planned."""
    shop.app.step("deliver", run_id, vendors)
    shop.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        shop.app.step(word, run_id, vendors)


@pytest.mark.slow
def test_a_delta_that_was_passed_over_does_not_mask_the_full_sync_that_ended_since(shop, metrics_sink):
    full, vendors = shop.begin("full")
    delta = shop.sync("delta")["run"]
    over = _row(shop)
    assert (over["last_run"], over["last_state"], over["at_work"]) == (delta, "busy", True)
    _finish(shop, full, vendors)
    done = _row(shop)
    assert (done["last_run"], done["last_state"], done["error"], done["at_work"]) == (full, "acknowledged", None, False)
    assert (done["pending"], done["oldest_unacknowledged_s"], done["oldest_held_s"]) == (0, None, None)
    report_gauges(shop.app.context)
    assert metrics_sink.gauges["oldest_unacknowledged_s"] == metrics_sink.gauges["oldest_held_s"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("later", ["busy", "superseded", "unchanged", "acknowledged"])
def test_a_failure_is_masked_by_no_run_that_says_nothing_of_the_whole_vendor(shop, later):
    """A later run that was passed over or superseded, and the success of an urgent run."""
    failed, passed = (shop.sync("full")["run"], shop.sync("delta")["run"])
    named = later in {"unchanged", "acknowledged"}
    with shop.app.context.engine.begin() as connection:
        change = "UPDATE ledger.vendor_run SET state = '%s', error = '%s' WHERE run_id = %s"
        connection.exec_driver_sql(change % ("failed", "no", failed))
        connection.exec_driver_sql(change % (later, "", passed))
        if named:
            connection.exec_driver_sql(f"UPDATE ledger.run SET skus = '{{a}}' WHERE run_id = {passed}")
    assert (_row(shop)["last_run"], _row(shop)["last_state"]) == (failed, "failed")


@pytest.mark.slow
def test_a_run_that_died_is_not_said_to_be_at_work(shop):
    run_id, _ = shop.begin("full", upto="diff")
    assert _row(shop)["at_work"]
    with shop.app.context.engine.begin() as connection:
        long_ago = "ledger.instant() - interval '1 day'"
        connection.exec_driver_sql(f"UPDATE ledger.vendor_run SET updated_at = {long_ago} WHERE run_id = {run_id}")
        connection.exec_driver_sql(f"UPDATE ledger.run SET started_at = {long_ago} WHERE run_id = {run_id}")
    assert (_row(shop)["last_state"], _row(shop)["at_work"]) == ("open", False)


@pytest.mark.slow
def test_repeated_runs_without_an_outcome_do_not_make_the_oldest_change_young(make_world):
    world = make_world(sync={"poll_first_s": 0.05, "poll_max_s": 0.1, "job_deadline_s": 30})
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    world.platform.faults({"at": "log", "kind": "missing_sku"})
    assert world.sync("full")["unaccounted"] >= 1
    world.rows("SELECT pg_sleep(1)")
    assert world.sync("delta")["unaccounted"] >= 1
    assert _row(world)["oldest_unacknowledged_s"] > 1
