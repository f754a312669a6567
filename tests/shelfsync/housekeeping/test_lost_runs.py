"""A run whose process was killed is closed, and reported as failed, once nothing of it is open."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from two_products import PRODUCTS


@pytest.mark.slow
def test_a_lost_run_is_reported_as_failed_with_its_step(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    run_id, _ = world.begin("delta", upto="diff")
    with world.app.context.engine.begin() as connection:
        for table, column in (("run", "started_at"), ("vendor_run", "updated_at")):
            connection.execute(sa.text(f"UPDATE ledger.{table} SET {column} = {column} - interval '3 days'"))
    world.app.remove_expired()
    for table in ("ledger.run", "warehouse.sync_run"):
        (row,) = world.rows(f"SELECT state, error FROM {table} WHERE run_id = {run_id}")
        assert (row.state, row.error.split(":")[0]) == ("failed", "it never came to its report")
    assert world.rows("SELECT state, failed_step FROM ledger.vendor_run") == [("failed", "guard")]
    assert world.sync("delta")["accepted"] == 1


def test_a_run_that_was_taken_up_again_is_not_lost(world):
    """It is as old as it began; what is being done for its vendors is young."""
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.begin("delta", upto="diff")
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.run SET started_at = started_at - interval '3 days'"))
    assert world.app.remove_expired()["runs_closed"] == 0
    assert world.rows("SELECT state FROM ledger.run") == [("running",)]


@pytest.mark.slow
@pytest.mark.parametrize("upto", ["open", "extract", "plan"])
def test_a_run_of_promotions_that_was_killed_is_closed_once_no_request_of_it_is_open(shop, upto):
    shop.erp.put("c1", "a", "8")
    path = shop.world.app.promotions
    run_id = path.open_run("killed", dry_run=False)
    if upto != "open":
        path.extract(run_id)
    if upto == "plan":
        path.plan(run_id)
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.promotion_run SET started_at = started_at - interval '3 days', planned_at = planned_at - interval '3 days'"
        )
    state = "SELECT state FROM {}.promotion_run"
    if upto == "plan":
        assert shop.world.app.remove_expired()["runs_closed"] == 0, "its requests are yet to be sent"
        assert shop.rows(state.format("ledger")) == [("planned",)]
        path.deliver()
        path.wait(run_id)
        path.confirm()
    assert shop.world.app.remove_expired(dry_run=True)["runs_closed"] == 1
    assert shop.world.app.remove_expired()["runs_closed"] == 1
    for schema in ("ledger", "warehouse"):
        ((found, error),) = shop.rows(f"SELECT state, error FROM {schema}.promotion_run")
        assert (found, error.split(":")[0]) == ("failed", "it never came to its report")
    assert shop.world.app.remove_expired()["runs_closed"] == 0
