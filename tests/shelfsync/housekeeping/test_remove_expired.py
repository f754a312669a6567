"""What housekeeping removes, and what it never removes."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from lake_files import age, lake_files
from shelfsync.housekeeping.unused_files import needed_paths
from two_products import PRODUCTS

MOMENT = 1e-7
"""Days: everything is older than this."""


def _counts(world) -> dict[str, int]:
    tables = ("ledger.run", "ledger.vendor_run", "ledger.batch", "ledger.job", "ledger.baseline", "ledger.extract")
    return {table: world.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def _used(world) -> set[str]:
    with world.app.context.engine.connect() as connection:
        selects = needed_paths(connection, timedelta(days=MOMENT))
        return {path for select in selects for path in connection.execute(select).scalars()} - {""}


@pytest.mark.slow
def test_old_runs_go_and_the_state_in_force_stays(lived):
    age(lived)
    before = lake_files(lived)
    result = lived.app.remove_expired()
    counts = _counts(lived)
    assert counts["ledger.vendor_run"] == 1, "the newest run has what the ERP wants"
    assert counts["ledger.baseline"] == 1
    assert result["files_removed"] == len(before) - len(lake_files(lived)) > 0
    assert _used(lived) <= lake_files(lived), "no row points to a file that went"


@pytest.mark.slow
def test_a_second_time_nothing_more_goes(lived):
    age(lived)
    lived.app.remove_expired()
    again = lived.app.remove_expired()
    assert (again["rows"], again["files_removed"]) == ({}, 0)


@pytest.mark.slow
def test_after_it_the_path_goes_on_as_before(lived):
    age(lived)
    lived.app.remove_expired()
    assert lived.sync("delta")["sent"] == 0, "what was acknowledged is still known"
    lived.erp.put("store-001", "a", "5.00")
    assert lived.sync("delta")["accepted"] == 1
    assert lived.shown()["a"]["price"] == 5
    assert "The platform acknowledged 5.00" in lived.app.explain("store-001", "a").sentence


@pytest.mark.slow
def test_what_is_in_flight_stays_whole(lived):
    lived.erp.put("store-001", "a", "6.00")
    run_id, vendors = lived.begin("delta", upto="deliver")
    age(lived)
    lived.app.remove_expired()
    lived.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        assert lived.app.step(word, run_id, vendors)["failed"] == {}
    assert lived.shown()["a"]["price"] == 6
    assert lived.app.report(run_id)["accepted"] == 1


@pytest.mark.slow
def test_what_was_planned_and_not_yet_sent_stays_whole(lived):
    lived.erp.put("store-001", "a", "6.00")
    lived.begin("delta", upto="batch")
    age(lived)
    lived.app.remove_expired()
    lived.app.recover()
    lived.sync("delta")
    assert lived.shown()["a"]["price"] == 6


@pytest.mark.slow
def test_a_restoration_in_force_keeps_the_state_it_brings_back(lived):
    first = lived.rows("SELECT min(valid_from) FROM warehouse.baseline_history WHERE sku = 'a'")[0][0]
    order = {"span": timedelta(hours=1), "skus": None, "why": "x", "who": "ada", "dry_run": False}
    lived.app.restore("store-001", at=first, **order)
    age(lived)
    lived.app.remove_expired()
    lived.sync("delta")
    assert lived.shown()["a"]["price"] == 1


@pytest.mark.slow
def test_a_state_whose_file_is_gone_is_put_together_again_from_the_history(lived):
    first = lived.rows("SELECT min(valid_from) FROM warehouse.baseline_history WHERE sku = 'a'")[0][0]
    age(lived)
    lived.app.remove_expired()
    order = {"span": timedelta(hours=1), "skus": None, "why": "x", "who": "ada", "dry_run": False}
    assert lived.app.restore("store-001", at=first, **order)["changes"] == 1
    lived.sync("delta")
    assert lived.shown()["a"]["price"] == 1


@pytest.mark.slow
def test_whole_assortments_go_earlier_than_what_was_sent_of_them(make_world):
    world = make_world(housekeeping={"snapshot_days": MOMENT, "lake_grace_hours": 1})
    world.platform.put_products("store-001", PRODUCTS)
    for price in ("1.00", "1.10", "1.20"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    age(world)
    result = world.app.remove_expired()
    kinds = [name.split("/")[0] for name in lake_files(world)]
    assert result["rows"] == {}
    assert (kinds.count("raw"), kinds.count("snapshot")) == (1, 1), "the newest of each"
    assert (kinds.count("delta"), kinds.count("outcome")) == (3, 1), "three times the same outcome is one content"


@pytest.mark.slow
@pytest.mark.parametrize("upto", ["normalise", "diff"])
def test_a_run_that_never_came_to_its_report_is_closed_and_goes(lived, upto):
    lived.erp.put("store-001", "a", "6.00")
    run_id, _ = lived.begin("delta", upto=upto)
    lived.erp.put("store-001", "a", "7.00")
    lived.sync("delta")
    age(lived)
    assert lived.app.remove_expired(dry_run=True)["runs_closed"] == 1
    result = lived.app.remove_expired()
    assert result["runs_closed"] == 1
    assert any("1 runs that never came to their report were closed" in line for line in result["lines"])
    assert lived.rows(f"SELECT count(*) FROM ledger.run WHERE run_id = {run_id}") == [(0,)]
    assert len([name for name in lake_files(lived) if name.startswith(("raw/", "snapshot/"))]) == 2, (
        "the newest of each"
    )


@pytest.mark.slow
def test_an_observation_is_deleted_together_with_its_drift_and_its_rows(make_world):
    """The rest of an old observation would report no drift, and show a part of the assortment as the whole."""
    world = make_world(drift={"propagation_s": 0})
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "b", "1.00")
    world.sync("full")
    world.platform.faults({"at": "job", "kind": "not_applied"})
    for number, price in enumerate(("2.00", "3.00", "4.00")):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
        world.app.export(f"test/{number}", (), progress=lambda *_: None)
    world.platform.faults()
    assert world.rows("SELECT count(*) FROM warehouse.not_applied") == [(3,)]
    old = "SELECT observation_id FROM warehouse.observation ORDER BY observed_at LIMIT 2"
    with world.app.context.engine.begin() as connection:
        for table in ("drift", "drift_count", "observation"):
            connection.execute(
                sa.text(
                    f"UPDATE warehouse.{table} SET observed_at = observed_at - interval '401 days' WHERE observation_id IN ({old})"
                )
            )
    assert world.app.remove_expired()["rows"]["warehouse.observation"] == 2
    days = "SELECT count(*) FROM warehouse.{} WHERE observed_at < now() - interval '1 day'"
    for view in ("not_applied", "assortment_daily", "drift"):
        assert world.rows(days.format(view)) == [(0,)], view
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE warehouse.observation SET observed_at = observed_at - interval '500 days'"))
    assert world.app.remove_expired()["rows"].get("warehouse.observation", 0) == 0, (
        "the next load compares with the newest"
    )


@pytest.mark.slow
def test_neither_a_dry_run_nor_a_busy_vendor_keeps_its_assortment(make_world):
    world = make_world(
        housekeeping={"snapshot_days": MOMENT, "lake_grace_hours": 1},
        sync={"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 10},
    )
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    world.platform.faults({"at": "job", "kind": "stuck"})
    world.erp.put("store-001", "a", "2.00")
    run_id, vendors = world.begin("delta", upto="deliver")
    world.erp.put("store-001", "a", "3.00")
    world.sync("delta")
    world.platform.faults()
    world.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        world.app.step(word, run_id, vendors)
    world.app.report(run_id)
    world.erp.put("store-001", "a", "4.00")
    world.sync("delta", dry_run=True)
    world.erp.put("store-001", "a", "5.00")
    world.sync("delta")
    states = {row.state for row in world.rows("SELECT state FROM ledger.vendor_run")}
    assert {"busy", "planned"} <= states
    age(world)
    world.app.remove_expired()
    kinds = [name.split("/")[0] for name in lake_files(world)]
    assert (kinds.count("raw"), kinds.count("snapshot")) == (1, 1), "the newest of each"


@pytest.mark.slow
def test_a_hold_that_is_open_or_was_declined_is_remembered_and_one_that_is_over_goes(make_world):
    world = make_world(housekeeping={"history_days": MOMENT})
    world.platform.put_products("store-001", PRODUCTS)
    for price in ("1.00", "90.00"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    hold_id, state = world.rows("SELECT hold_id, state FROM ledger.hold")[0]
    assert state == "open"
    world.app.remove_expired()
    world.app.holds.decide(hold_id, approve=False, who="ada", why="a typing error")
    world.app.remove_expired()
    assert world.rows("SELECT state FROM ledger.hold") == [("declined",)]
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET state = 'superseded'"))
    world.app.remove_expired()
    assert world.rows("SELECT count(*) FROM ledger.hold") == [(0,)]


@pytest.mark.slow
def test_a_dry_run_counts_and_removes_nothing(lived):
    age(lived)
    before = lake_files(lived), _counts(lived)
    result = lived.app.remove_expired(dry_run=True)
    assert sum(result["rows"].values()) > 0
    assert (lake_files(lived), _counts(lived)) == before


@pytest.mark.slow
def test_nothing_goes_before_its_time(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    age(world, hours=100)
    result = world.app.remove_expired()
    assert (result["rows"], result["files_removed"]) == ({}, 0)


@pytest.mark.slow
def test_an_approval_stays_as_long_as_a_run_of_promotions_finds_what_it_is_for(shop):
    for number, sku in enumerate("abc"):
        shop.erp.put(f"c{number}", sku, "1", end=24 * 90)
    shop.sync()
    path = shop.world.app.promotions
    assert path.decide_rule("discount", approve=True, by="ada") == 3
    shop.sync()
    for campaign in ("c1", "c2"):
        shop.erp.drop(campaign)
    shop.sync()
    assert path.decide_rule("ended", approve=True, by="ada") == 1
    for _ in range(2):
        with shop.world.app.context.engine.begin() as connection:
            year = "decided_at = now() - interval '401 days', held_at = now() - interval '401 days'"
            connection.exec_driver_sql(f"UPDATE ledger.hold SET {year}")
            connection.exec_driver_sql("UPDATE ledger.promotion_run SET finished_at = now() - interval '401 days'")
        summary = shop.sync()
        shop.world.app.remove_expired()
        assert summary["counts"]["held"] == 0, "a person is asked once"
    assert shop.rows("SELECT campaign, state FROM ledger.hold") == [("c0", "approved")]


@pytest.mark.slow
def test_promotions_go_when_their_time_is_over_and_not_before(make_shop):
    days = ("run_days", "snapshot_days", "quarantine_days", "history_days")
    shop = make_shop(housekeeping=dict.fromkeys(days, MOMENT) | {"lake_grace_hours": 1})
    shop.erp.put("runs", "a", "8")
    shop.erp.put("over", "b", "8")
    shop.erp.put("over", "c", "8,5")
    shop.sync()
    with shop.world.app.context.engine.begin() as connection:
        for schema in ("ledger", "warehouse"):
            connection.execute(
                sa.text(
                    f"UPDATE {schema}.promotion SET start_time = '2020-01-01', end_time = '2020-02-01' WHERE campaign = 'over'"
                )
            )
    shop.erp.drop("over")
    age(shop.world)
    shop.world.app.remove_expired()
    assert shop.rows("SELECT campaign FROM ledger.promotion") == [("runs",)]
    assert shop.rows("SELECT campaign FROM warehouse.promotion") == [("runs",)]
    assert shop.rows("SELECT count(*) FROM warehouse.promotion_quarantine") == [(0,)]
    assert shop.rows("SELECT sku FROM warehouse.promotion_outcome") == [("a",)]
    assert _used(shop.world) <= lake_files(shop.world)
    assert shop.sync()["counts"]["requests"] == 0
    shop.erp.drop("runs")
    assert shop.sync()["pairs"]["accepted"] == 1, "it can still be ended with the body of its creation"
    assert shop.states() == ["Running", "Cancelled"], "the other one's time is over in our tables alone"
