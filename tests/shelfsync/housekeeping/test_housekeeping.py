"""What housekeeping takes away, and what it never does."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from shelfsync.housekeeping.prune import prune
from shelfsync.housekeeping.rules import rules
from shelfsync.housekeeping.sweep import needed_paths, path_columns, sweep
from shelfsync.lake.store import Lake
from shelfsync.settings import HousekeepingSettings

PRODUCTS = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in ("a", "b")]
MOMENT = 1e-7
"""Days: everything is older than this."""


@pytest.fixture
def lived(make_world):
    """A vendor with a history of runs, all of it older than its retention."""
    days = (
        "run_days",
        "file_days",
        "baseline_days",
        "observation_days",
        "event_days",
        "quarantine_days",
        "history_days",
        "repeat_days",
    )
    world = make_world(housekeeping=dict.fromkeys(days, MOMENT) | {"lake_grace_hours": 1})
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "b", "oops")
    world.sync("full")
    for price in ("2.00", "3.00", "4.00"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    return world


def _files(world) -> set[str]:
    root = Path(world.settings.lake)
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}


def _age(world, hours: float = 2) -> None:
    for name in _files(world):
        file = Path(world.settings.lake, name)
        then = file.stat().st_mtime - hours * 3600
        os.utime(file, (then, then))


def _counts(world) -> dict[str, int]:
    tables = ("ledger.run", "ledger.vendor_run", "ledger.batch", "ledger.job", "ledger.baseline", "ledger.extract")
    return {table: world.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def _used(world) -> set[str]:
    with world.house.parts.engine.connect() as connection:
        selects = needed_paths(connection, timedelta(days=MOMENT))
        return {path for select in selects for path in connection.execute(select).scalars()} - {""}


def test_old_runs_go_and_the_state_in_force_stays(lived):
    _age(lived)
    before = _files(lived)
    told = lived.house.keep_house()
    counts = _counts(lived)
    assert counts["ledger.vendor_run"] == 1, "the newest run says what the ERP wants"
    assert counts["ledger.baseline"] == 1
    assert told["files_removed"] == len(before) - len(_files(lived)) > 0
    assert _used(lived) <= _files(lived), "no row points to a file that went"


def test_a_second_time_nothing_more_goes(lived):
    _age(lived)
    lived.house.keep_house()
    again = lived.house.keep_house()
    assert (again["rows"], again["files_removed"]) == ({}, 0)


def test_after_it_the_path_goes_on_as_before(lived):
    _age(lived)
    lived.house.keep_house()
    assert lived.sync("delta")["sent"] == 0, "what was acknowledged is still known"
    lived.erp.put("store-001", "a", "5.00")
    assert lived.sync("delta")["accepted"] == 1
    assert lived.shown()["a"]["price"] == 5
    assert "It shows 5.00" in lived.house.explain("store-001", "a").sentence


def test_what_is_in_flight_stays_whole(lived):
    lived.erp.put("store-001", "a", "6.00")
    run_id, vendors = lived.begin("delta", upto="deliver")
    _age(lived)
    lived.house.keep_house()
    lived.house.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        assert lived.house.step(word, run_id, vendors)["failed"] == {}
    assert lived.shown()["a"]["price"] == 6
    assert lived.house.report(run_id)["accepted"] == 1


def test_what_was_planned_and_not_yet_sent_stays_whole(lived):
    lived.erp.put("store-001", "a", "6.00")
    lived.begin("delta", upto="batch")
    _age(lived)
    lived.house.keep_house()
    lived.house.settle()
    lived.sync("delta")
    assert lived.shown()["a"]["price"] == 6


def test_a_restoration_in_force_keeps_the_state_it_brings_back(lived):
    first = lived.rows("SELECT min(valid_from) FROM warehouse.baseline_history WHERE sku = 'a'")[0][0]
    order = {"span": timedelta(hours=1), "skus": None, "why": "x", "who": "ada", "dry_run": False}
    lived.house.restore("store-001", at=first, **order)
    _age(lived)
    lived.house.keep_house()
    lived.sync("delta")
    assert lived.shown()["a"]["price"] == 1


def test_a_state_whose_file_is_gone_is_put_together_again_from_the_history(lived):
    first = lived.rows("SELECT min(valid_from) FROM warehouse.baseline_history WHERE sku = 'a'")[0][0]
    _age(lived)
    lived.house.keep_house()
    order = {"span": timedelta(hours=1), "skus": None, "why": "x", "who": "ada", "dry_run": False}
    assert lived.house.restore("store-001", at=first, **order)["changes"] == 1
    lived.sync("delta")
    assert lived.shown()["a"]["price"] == 1


def test_whole_assortments_go_earlier_than_what_was_sent_of_them(make_world):
    world = make_world(housekeeping={"file_days": MOMENT, "lake_grace_hours": 1})
    world.platform.put_products("store-001", PRODUCTS)
    for price in ("1.00", "1.10", "1.20"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    _age(world)
    told = world.house.keep_house()
    kinds = [name.split("/")[0] for name in _files(world)]
    assert told["rows"] == {}
    assert (kinds.count("raw"), kinds.count("snapshot")) == (1, 1), "the newest of each"
    assert (kinds.count("delta"), kinds.count("outcome")) == (3, 1), "three times the same outcome is one content"


@pytest.mark.parametrize("upto", ["normalise", "diff"])
def test_a_run_that_never_came_to_its_report_is_closed_and_goes(lived, upto):
    lived.erp.put("store-001", "a", "6.00")
    run_id, _ = lived.begin("delta", upto=upto)
    lived.erp.put("store-001", "a", "7.00")
    lived.sync("delta")
    _age(lived)
    assert lived.house.keep_house(dry_run=True)["runs_closed"] == 1
    told = lived.house.keep_house()
    assert told["runs_closed"] == 1
    assert any("1 runs that never came to their report were closed" in line for line in told["lines"])
    assert lived.rows(f"SELECT count(*) FROM ledger.run WHERE run_id = {run_id}") == [(0,)]
    assert len([name for name in _files(lived) if name.startswith(("raw/", "snapshot/"))]) == 2, "the newest of each"


def test_a_picture_goes_with_its_drift_and_what_it_showed(make_world):
    """What is left of an old picture would say that nothing was wrong, and show a part of the shelf as the whole."""
    world = make_world(drift={"propagation_s": 0})
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "b", "1.00")
    world.sync("full")
    world.platform.faults({"at": "job", "kind": "not_applied"})
    for number, price in enumerate(("2.00", "3.00", "4.00")):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
        world.house.export(f"test/{number}", (), tell=lambda *_: None)
    world.platform.faults()
    assert world.rows("SELECT count(*) FROM warehouse.not_applied") == [(3,)]
    old = "SELECT observation_id FROM warehouse.observation ORDER BY observed_at LIMIT 2"
    with world.house.parts.engine.begin() as connection:
        for table in ("drift", "observation"):
            connection.execute(
                sa.text(
                    f"UPDATE warehouse.{table} SET observed_at = observed_at - interval '401 days' WHERE observation_id IN ({old})"
                )
            )
    assert world.house.keep_house()["rows"]["warehouse.observation"] == 2
    days = "SELECT count(*) FROM warehouse.{} WHERE observed_at < now() - interval '1 day'"
    for view in ("not_applied", "assortment_daily", "drift"):
        assert world.rows(days.format(view)) == [(0,)], view
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text("UPDATE warehouse.observation SET observed_at = observed_at - interval '500 days'"))
    assert world.house.keep_house()["rows"].get("warehouse.observation", 0) == 0, (
        "the next load compares with the newest"
    )


def test_a_lost_run_says_that_it_failed_and_where(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    run_id, _ = world.begin("delta", upto="diff")
    with world.house.parts.engine.begin() as connection:
        for table, column in (("run", "started_at"), ("vendor_run", "updated_at")):
            connection.execute(sa.text(f"UPDATE ledger.{table} SET {column} = {column} - interval '3 days'"))
    world.house.keep_house()
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
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.run SET started_at = started_at - interval '3 days'"))
    assert world.house.keep_house()["runs_closed"] == 0
    assert world.rows("SELECT state FROM ledger.run") == [("running",)]


def test_neither_a_dry_run_nor_a_busy_vendor_keeps_its_assortment(make_world):
    world = make_world(
        housekeeping={"file_days": MOMENT, "lake_grace_hours": 1},
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
    world.house.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        world.house.step(word, run_id, vendors)
    world.house.report(run_id)
    world.erp.put("store-001", "a", "4.00")
    world.sync("delta", dry_run=True)
    world.erp.put("store-001", "a", "5.00")
    world.sync("delta")
    states = {row.state for row in world.rows("SELECT state FROM ledger.vendor_run")}
    assert {"busy", "planned"} <= states
    _age(world)
    world.house.keep_house()
    kinds = [name.split("/")[0] for name in _files(world)]
    assert (kinds.count("raw"), kinds.count("snapshot")) == (1, 1), "the newest of each"


def test_outcomes_that_repeat_what_held_go_and_their_job_keeps_the_count(make_world):
    world = make_world(housekeeping={"repeat_days": MOMENT})
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "b", "2.00")
    world.erp.put("store-001", "nowhere", "1.00")
    world.sync("full")
    world.erp.put("store-001", "a", "1.10")
    world.sync("full")
    before = world.rows("SELECT vendor, sent, accepted, refused, acceptance_rate FROM warehouse.acceptance")
    said = world.rows(
        "SELECT job_id, sku, change FROM warehouse.sku_outcome WHERE NOT (state = 'accepted' AND change = 'same')"
    )
    same = world.rows("SELECT count(*) FROM warehouse.sku_outcome WHERE state = 'accepted' AND change = 'same'")[0][0]
    assert same > 0
    assert world.house.keep_house(dry_run=True)["rows"]["warehouse.sku_outcome"] == same
    assert world.house.keep_house()["rows"]["warehouse.sku_outcome"] == same
    assert sorted(world.rows("SELECT job_id, sku, change FROM warehouse.sku_outcome")) == sorted(said)
    assert world.rows("SELECT sum(repeats_removed) FROM warehouse.catalog_job") == [(same,)]
    assert world.rows("SELECT vendor, sent, accepted, refused, acceptance_rate FROM warehouse.acceptance") == before
    assert world.house.keep_house()["rows"].get("warehouse.sku_outcome", 0) == 0


def test_a_hold_that_is_open_or_was_rejected_is_remembered_and_one_that_is_over_goes(make_world):
    world = make_world(housekeeping={"history_days": MOMENT})
    world.platform.put_products("store-001", PRODUCTS)
    for price in ("1.00", "90.00"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    hold_id, state = world.rows("SELECT hold_id, state FROM ledger.hold")[0]
    assert state == "open"
    world.house.keep_house()
    world.house.holds.decide(hold_id, approve=False, who="ada", why="a typing error")
    world.house.keep_house()
    assert world.rows("SELECT state FROM ledger.hold") == [("rejected",)]
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET state = 'superseded'"))
    world.house.keep_house()
    assert world.rows("SELECT count(*) FROM ledger.hold") == [(0,)]


def test_a_file_younger_than_the_grace_stays_though_nothing_points_to_it_yet(lived):
    _age(lived)
    path = lived.house.parts.lake.write_bytes("log", "store-001", ".csv", b"just written")
    lived.house.keep_house()
    assert lived.house.parts.lake.exists(path)


def test_a_file_that_is_published_again_is_young_again(lived):
    lake = lived.house.parts.lake
    path = lake.write_bytes("log", "store-001", ".csv", b"the same content")
    _age(lived)
    lake.write_bytes("log", "store-001", ".csv", b"the same content")
    lived.house.keep_house()
    assert lake.exists(path)


def test_what_a_dead_process_left_half_written_goes(lived):
    torn = Path(lived.settings.lake, ".staging", "torn.parquet")
    torn.write_bytes(b"PAR1")
    _age(lived)
    lived.house.keep_house()
    assert not torn.exists()


def test_a_dry_run_counts_and_removes_nothing(lived):
    _age(lived)
    before = _files(lived), _counts(lived)
    told = lived.house.keep_house(dry_run=True)
    assert sum(told["rows"].values()) > 0
    assert (_files(lived), _counts(lived)) == before


def test_nothing_goes_before_its_time(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    _age(world, hours=100)
    told = world.house.keep_house()
    assert (told["rows"], told["files_removed"]) == ({}, 0)


def test_every_rule_can_be_asked_of_the_database(engine):
    for rule in rules(HousekeepingSettings(), personal_days=30):
        assert prune(engine, rule) == 0
        with engine.connect() as connection:
            assert connection.execute(sa.text("SELECT to_regclass(:table)"), {"table": rule.table}).scalar_one(), rule


def test_every_column_that_holds_a_path_of_the_lake_says_so(engine):
    """A path in a column that does not would be taken for one that nobody needs."""
    named = sa.text(
        "SELECT c.oid::regclass::text, a.attname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0"
        " WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname IN ('ledger', 'inbox', 'budget', 'warehouse')"
        " AND a.attname ~ '(^|_)paths?$' AND coalesce(col_description(c.oid, a.attnum), '') NOT LIKE 'Lake, while %'"
    )
    with engine.connect() as connection:
        known = {(table, column) for table, column, _ in path_columns(connection)}
        assert {tuple(row) for row in connection.execute(named)} == known


def test_no_foreign_key_makes_the_removal_of_a_row_read_a_whole_table(engine):
    """Removing a row asks every table that points to it; without an index that is a walk through all its rows."""
    unindexed = sa.text(
        "SELECT c.conrelid::regclass::text || ' (' || c.conname || ')' FROM pg_constraint AS c"
        " WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = to_regclass(:table) AND NOT EXISTS ("
        "   SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.conrelid AND i.indpred IS NULL"
        "   AND (i.indkey::int2[])[0:array_length(c.conkey, 1) - 1] @> c.conkey)"
    )
    with engine.connect() as connection:
        found = {
            name
            for rule in rules(HousekeepingSettings(), personal_days=30)
            for name in connection.execute(unindexed, {"table": rule.table}).scalars()
        }
    assert found == set()


def test_a_lake_elsewhere_tells_the_age_of_its_files_too():
    lake = Lake("memory://swept")
    path = lake.write_bytes("log", "store-001", ".csv", b"x")
    (file,) = lake.files("log/store-001")
    assert (list(lake.folders()), file.path, file.bytes) == (["log/store-001"], path, 1)
    assert lake.remove(path, not_after=file.modified_at) is False
    assert lake.remove(path, not_after=file.modified_at + timedelta(seconds=1)) is True
    assert not lake.exists(path)


def test_what_is_in_use_is_never_swept(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    _age(world)
    assert sweep(world.house.parts, grace=timedelta(hours=1), recent=timedelta(days=1)).removed == 0


def test_promotions_go_when_their_time_is_over_and_not_before(make_shop):
    days = ("run_days", "file_days", "quarantine_days", "history_days")
    shop = make_shop(housekeeping=dict.fromkeys(days, MOMENT) | {"lake_grace_hours": 1})
    shop.erp.put("runs", "a", "8")
    shop.erp.put("over", "b", "8")
    shop.erp.put("over", "c", "8,5")
    shop.sync()
    with shop.world.house.parts.engine.begin() as connection:
        for schema in ("ledger", "warehouse"):
            connection.execute(
                sa.text(
                    f"UPDATE {schema}.promotion SET start_time = '2020-01-01', end_time = '2020-02-01' WHERE campaign = 'over'"
                )
            )
    shop.erp.drop("over")
    _age(shop.world)
    shop.world.house.keep_house()
    assert shop.rows("SELECT campaign FROM ledger.promotion") == [("runs",)]
    assert shop.rows("SELECT campaign FROM warehouse.promotion") == [("runs",)]
    assert shop.rows("SELECT count(*) FROM warehouse.promotion_quarantine") == [(0,)]
    assert shop.rows("SELECT sku FROM warehouse.promotion_outcome") == [("a",)]
    assert _used(shop.world) <= _files(shop.world)
    assert shop.sync()["counts"]["requests"] == 0
    shop.erp.drop("runs")
    assert shop.sync()["pairs"]["accepted"] == 1, "it can still be ended with the body of its creation"
    assert shop.states() == ["Running", "Cancelled"], "the other one's time is over in our tables alone"
