"""Accepted outcomes that changed nothing go; what was rejected, changed or never reported stays."""

from __future__ import annotations

import pytest

from two_products import PRODUCTS

MOMENT = 1e-7
"""Days: everything is older than this."""


@pytest.mark.slow
def test_outcomes_that_repeat_what_held_go_and_their_job_keeps_the_count(make_world):
    world = make_world(housekeeping={"repeated_outcome_days": MOMENT})
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "b", "2.00")
    world.erp.put("store-001", "nowhere", "1.00")
    world.sync("full")
    world.erp.put("store-001", "a", "1.10")
    world.sync("full")
    before = world.rows("SELECT vendor, sent, accepted, rejected, acceptance_rate FROM warehouse.acceptance")
    output = world.rows(
        "SELECT job_id, sku, change FROM warehouse.sku_outcome WHERE NOT (state = 'accepted' AND change = 'same')"
    )
    same = world.rows("SELECT count(*) FROM warehouse.sku_outcome WHERE state = 'accepted' AND change = 'same'")[0][0]
    assert same > 0
    assert world.app.remove_expired(dry_run=True)["rows"]["warehouse.sku_outcome"] == same
    assert world.app.remove_expired()["rows"]["warehouse.sku_outcome"] == same
    assert sorted(world.rows("SELECT job_id, sku, change FROM warehouse.sku_outcome")) == sorted(output)
    assert world.rows("SELECT sum(repeats_removed) FROM warehouse.catalog_job") == [(same,)]
    assert world.rows("SELECT vendor, sent, accepted, rejected, acceptance_rate FROM warehouse.acceptance") == before
    assert world.app.remove_expired()["rows"].get("warehouse.sku_outcome", 0) == 0


@pytest.mark.slow
def test_with_no_day_repeats_are_never_written_and_the_job_has_their_number(make_world):
    world = make_world(housekeeping={"repeated_outcome_days": 0})
    world.platform.put_products("store-001", PRODUCTS)
    for sku in ("a", "b", "nowhere"):
        world.erp.put("store-001", sku, "2.00")
    world.sync("full")
    world.erp.put("store-001", "a", "2.10")
    assert world.sync("full")["accepted"] == 2
    last = "(SELECT max(job_id) FROM ledger.job)"
    outcomes = f"SELECT sku, state, change FROM warehouse.sku_outcome WHERE job_id = {last} ORDER BY sku"
    assert world.rows(outcomes) == [("a", "accepted", "changed"), ("nowhere", "rejected", "new")]
    counts = f"SELECT sent, accepted, rejected, repeats_removed FROM warehouse.catalog_job WHERE job_id = {last}"
    assert world.rows(counts) == [(3, 2, 1, 1)]
    assert world.app.explain("store-001", "b").acknowledged.values.price == 2
    assert world.app.remove_expired()["rows"].get("warehouse.sku_outcome", 0) == 0
