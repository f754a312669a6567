"""Alerts `rejected` and `drift_returns`: products that the platform rejects for good, or whose value it does not keep."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import kinds, revision


@pytest.mark.slow
def test_products_that_the_platform_rejects_are_reported_again_with_each_new_one(world, context):
    world.erp.put("store-001", "unknown-1", "2.00")
    world.sync("delta")
    assert kinds(context) == {("rejected", "")}
    first = revision(context, "rejected")
    world.erp.put("store-001", "unknown-1", "2.00", quantity=3)
    world.sync("delta")
    world.sync("full")
    kinds(context)
    assert revision(context, "rejected") == first, "the same product was sent again and rejected again"
    world.erp.put("store-001", "unknown-2", "2.00")
    world.sync("delta")
    kinds(context)
    assert revision(context, "rejected") > first
    world.erp.execute("DELETE FROM stock WHERE sku <> 'a'")
    world.sync("full")
    assert kinds(context) == set()


@pytest.mark.slow
def test_values_that_the_platform_does_not_keep_are_a_condition_of_their_own(world, context):
    world.erp.put("store-001", "unknown-1", "2.00")
    world.sync("delta")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.rejection SET kind = 'drifted'"))
    assert kinds(context) == {("drift_returns", "")}
