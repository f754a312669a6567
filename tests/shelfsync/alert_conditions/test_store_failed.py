"""Alert `store_failed`: the last run of a store failed, and nothing else explains it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import kinds


@pytest.mark.slow
def test_a_failed_store_is_an_alert_until_a_run_has_taken_it(world, context):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'")
        )
    assert kinds(context) == {("store_failed", "store-001")}
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == set()
