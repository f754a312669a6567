"""Alerts about one store: `store_late`, `store_failed`, `unaccounted`, `rows_quarantined`, by one look at the status."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import having, kinds, lines, older


@pytest.mark.slow
def test_a_change_that_waits_too_long_makes_its_store_late_until_it_is_acknowledged(world, context):
    world.erp.put("store-001", "a", "1.05")
    world.begin("delta", upto="batch")
    older(context, "ledger.batch", "wanted_at", 29)
    assert kinds(context) == set()
    older(context, "ledger.batch", "wanted_at", 2)
    assert kinds(context) == {("store_late", "store-001")}
    assert "waits for 31 minutes" in lines(context)["store_late"]
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
def test_skus_without_an_outcome_are_an_alert_until_a_delta_has_one(world, context):
    world.platform.faults({"at": "log", "kind": "missing_sku", "times": 1})
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == {("unaccounted", "store-001"), ("run_failed", "delta")}, "its only store failed"
    world.sync("delta")
    assert kinds(context) == set()


def test_a_store_that_the_settings_leave_out_is_no_alert(context):
    with context.engine.begin() as connection:
        failed = "UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'"
        connection.execute(sa.text(failed))
    assert kinds(context) == {("store_failed", "store-001")}
    assert kinds(having(context, "sync", vendors=("store-002",))) == set()
