"""A delta reads only what changed, and is as right as one that reads the whole."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.ledger import alerts
from shelfsync.catalog.ledger import readings
from shelfsync.catalog.steps import watch as watching
from shelfsync.catalog.steps.run import beginning, open_run
from shelfsync.erp import connection as connections
from shelfsync.erp.session import Session
from shelfsync.errors import ConfigurationError, DataError, TryAgainError
from shelfsync.store.lake import Lake
from stamped_erp import NUMBERS, TIMES, StampedErp

if TYPE_CHECKING:
    from app_calls import Calls

OVERLAP_S = 60
STORES = ("store-001", "store-002")
_keys = itertools.count(1)


@pytest.fixture
def erp(tmp_path):
    return StampedErp(tmp_path / "erp.sqlite")


@pytest.fixture
def kind():
    return TIMES


@pytest.fixture
def world(kind, make_world, platform, erp):
    erp.fill(platform, STORES)
    return make_world(erp={"url": erp.url, "changes_overlap": OVERLAP_S, **kind})


def extracted(world, kind="delta"):
    """The vendors of a run that only reads."""
    run_id = world.app.open_run(kind, f"changes/{next(_keys)}")
    return [vendor for shard in world.app.extract(run_id) for vendor in shard["vendors"]]


def held(app: Calls, vendor):
    """The last rows of a vendor, as the ERP gave them."""
    with app.context.engine.connect() as connection:
        found = readings.every(connection)[vendor]
    table = app.context.lake.read_table(found.raw_path)
    rows = table.select(["sku", "price", "quantity", "active"]).to_pylist()
    return sorted((row["sku"], row["price"], int(row["quantity"]), int(row["active"])) for row in rows)


def theirs(erp, vendor):
    return [(sku, price, int(quantity), active) for sku, price, quantity, active in erp.rows(vendor)]


step = st.tuples(
    st.sampled_from(STORES),
    st.sampled_from("abcdef"),
    st.integers(0, 3),
    st.integers(0, OVERLAP_S - 1),  # how long before its commit the transaction began
    st.integers(0, OVERLAP_S * 3),  # how much time passes after it
    st.booleans(),  # whether shelfsync reads then
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TIMES, NUMBERS], ids=["times", "numbers"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, max_size=12))
def test_changes_with_the_overlap_are_the_whole_whatever_happens(world, erp, steps):
    erp.execute("DELETE FROM stock WHERE sku NOT IN ('a', 'b', 'c')")
    extracted(world, "full")
    for vendor, sku, quantity, began_s_ago, pause_s, reads in steps:
        erp.put(vendor, sku, quantity=quantity, began_s_ago=began_s_ago)
        if reads:
            extracted(world)
            assert {name: held(world.app, name) for name in STORES} == {name: theirs(erp, name) for name in STORES}
        erp.now += pause_s
    extracted(world)
    assert {name: held(world.app, name) for name in STORES} == {name: theirs(erp, name) for name in STORES}


def test_a_transaction_that_commits_late_is_caught_by_the_overlap(world, erp):
    extracted(world, "full")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=11)
    assert extracted(world)
    erp.put("store-001", "b", price="7.00", began_s_ago=OVERLAP_S - 1)
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")


@pytest.mark.slow
def test_a_change_is_sent_and_a_run_without_one_has_no_vendor(world, erp):
    world.sync("full")
    world.sync("delta")  # finds both vendors as acknowledged
    erp.now += 10
    erp.put("store-002", "b", price="2.50")
    summary = world.sync("delta")
    assert [row["vendor"] for row in summary["vendors"]] == ["store-002"]
    assert Decimal(str(world.shown("store-002")["b"]["price"])) == Decimal("2.5")
    world.sync("delta")
    summary = world.sync("delta")
    assert (summary["state"], summary["vendors"], summary["sent"]) == ("succeeded", [], 0)


@pytest.mark.slow
def test_the_whole_reading_counts_what_the_changes_missed_and_raises_an_alarm(world, erp):
    world.sync("full")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=11)
    world.sync("delta")  # the cursor is at now
    erp.put("store-001", "b", price="7.00", began_s_ago=OVERLAP_S + 1)  # committed too late
    erp.remove("store-002", "c")
    assert world.sync("delta")["sent"] == 0
    summary = world.sync("full")
    (alarm,) = summary["alarms"]
    assert "missed 2 SKUs of 2 stores (price, removed)" in alarm
    found = "SELECT vendor, sku, change, fields FROM warehouse.missed_change ORDER BY vendor"
    assert world.rows(found) == [("store-001", "b", "changed", "price"), ("store-002", "c", "removed", "")]
    assert Decimal(str(world.shown()["b"]["price"])) == Decimal(7)
    assert world.rows("SELECT sum(missed) FROM ledger.vendor_run") == [(2,)]
    assert world.sync("full")["alarms"] == []


def missed(world, **settings):
    """The message of the alert about missed changes after a look; None: there is none."""
    context = world.app.context
    erp = context.settings.erp.model_copy(update=settings)
    alert_watch.watch(dataclasses.replace(context, settings=context.settings.model_copy(update={"erp": erp})))
    with context.engine.connect() as connection:
        found = {row["kind"]: row["message"] for row in alerts.open_alerts(connection)}
    return found.get("changes_missed")


@pytest.mark.slow
def test_what_the_changes_missed_is_an_alert_until_a_full_sync_finds_nothing(world, erp):
    world.sync("full")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=11)
    world.sync("delta")
    erp.put("store-001", "b", price="7.00", began_s_ago=OVERLAP_S + 1)
    assert missed(world) is None
    number = world.sync("full")["run"]
    line = missed(world)
    assert line.startswith("the query of the changes missed 1 SKUs of 1 stores (price)")
    assert f"run {number} sends them" in line
    world.sync("delta")
    of_run = {"kind": "full", "key": "fails", "vendors": (), "dry_run": False}
    with contextlib.suppress(DataError), beginning(world.app.context, **of_run):
        raise DataError("a check that fails")
    assert missed(world) == line, "none has read the whole since"
    assert missed(world, changes_sql=None) is None, "no changes are read any more"
    assert missed(world) == line
    world.sync("full")
    assert missed(world) is None


@pytest.mark.slow
def test_a_query_that_returns_another_price_is_found(world, erp, make_world):
    lie = TIMES["changes_sql"].replace("price,", "'0.50' AS price,")
    liar = make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_sql": lie})
    liar.sync("full")
    erp.now += 1
    erp.put("store-001", "a", quantity=12)
    liar.sync("delta")
    assert "missed 6 SKUs of 2 stores (price)" in liar.sync("full")["alarms"][0]
    assert Decimal(str(liar.shown()["a"]["price"])) == Decimal(1)


def test_an_erp_that_went_back_to_a_backup_is_followed_after_the_next_whole_reading(world, erp):
    extracted(world, "full")
    erp.now += 500
    erp.put("store-001", "a", quantity=1)
    extracted(world)
    erp.now -= 500
    erp.put("store-001", "a", quantity=2)
    extracted(world, "full")
    erp.now += 1
    erp.put("store-001", "b", quantity=3)
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")


def test_a_reading_that_another_has_overtaken_lands_nothing(world, erp):
    extracted(world, "full")
    engine = world.app.context.engine
    with engine.connect() as connection:
        before = readings.at(connection, "catalog")
    erp.now += 1
    erp.put("store-001", "a", quantity=5)
    extracted(world)
    with pytest.raises(TryAgainError, match="another run has read the ERP meanwhile"), engine.begin() as connection:
        readings.move(connection, "catalog", before, cursor="0", mark="0")


@pytest.mark.slow
def test_a_run_of_named_vendors_and_a_plan_read_the_whole_and_move_nothing(world, erp):
    world.sync("full")
    position = world.rows("SELECT cursor, version FROM ledger.position")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=3)
    assert world.sync("delta", "store-001")["sent"] == 1
    world.sync("delta", dry_run=True)
    assert world.rows("SELECT cursor, version FROM ledger.position") == position


@pytest.mark.parametrize("skus", [(), ("b",)], ids=["named", "urgent"])
def test_what_a_run_of_named_vendors_reads_is_what_the_next_changes_are_laid_over(world, erp, skus):
    """Otherwise the next delta compares the rows before it with the new baseline, and takes its prices back."""
    extracted(world, "full")
    erp.put("store-001", "b", price="7.00", began_s_ago=5_000)  # a change that the query does not report
    key = f"changes/{next(_keys)}"
    run = open_run(world.app.context, kind="delta", key=key, vendors=("store-001",), skus=skus, dry_run=False)
    world.app.extract(run)
    erp.now += 1_000
    erp.put("store-001", "a", quantity=3)
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")


def test_after_a_reading_that_knew_nothing_of_the_changes_they_begin_anew(make_world, world, erp):
    """They were switched off for a while: what changed meanwhile may be in no feed any more."""
    extracted(world, "full")
    without = make_world(erp={"url": erp.url, "sql": TIMES["sql"]})
    erp.put("store-001", "b", price="7.00", began_s_ago=5_000)
    extracted(without)
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")


def test_a_store_that_a_whole_reading_missed_goes_on_with_its_changes(world, erp):
    extracted(world, "full")
    gone = erp.execute("DELETE FROM stock WHERE vendor = 'store-002' RETURNING *")
    assert extracted(world, "full") == ["store-001"]
    for row in gone:
        erp.execute("INSERT INTO stock VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
    erp.now += 1_000
    erp.put("store-002", "b", quantity=0)
    assert extracted(world) == ["store-001", "store-002"]
    assert held(world.app, "store-002") == theirs(erp, "store-002")


@pytest.mark.slow
def test_a_store_that_a_whole_reading_missed_stays_failed_until_it_changes(world, erp):
    for kind in ("full", "delta", "delta"):
        world.sync(kind)
    gone = erp.execute("DELETE FROM stock WHERE vendor = 'store-002' RETURNING *")
    assert world.sync("full")["state"] == "partly_failed"
    assert "store-002" not in [row["vendor"] for row in world.sync()["vendors"]]
    assert watching.news(world.app.context) is None
    for row in gone:
        erp.execute("INSERT INTO stock VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
    erp.now += 1_000
    erp.put("store-002", "b", quantity=0, active=0)
    assert world.sync()["sent"] == 1
    assert not world.shown("store-002")["b"]["active"]


@pytest.mark.slow
def test_a_store_that_the_platform_has_fails_if_its_changes_can_be_laid_over_nothing(world, erp):
    world.sync("full")
    with world.app.context.engine.begin() as connection:
        readings.keep(connection, ["store-001"])
    erp.now += 1_000
    erp.put("store-002", "b", quantity=0)
    erp.put("store-003", "b", quantity=0)
    summary = world.sync()
    (failed,) = [row for row in summary["vendors"] if row["state"] == "failed"]
    assert (failed["vendor"], summary["state"]) == ("store-002", "partly_failed")
    assert "shelfsync sync --full" in failed["error"]
    assert watching.news(world.app.context) is None, "the full sync reads all of it"


@pytest.mark.slow
def test_stores_whose_rows_come_from_several_readings_each_keep_their_own_quarantine(world, erp):
    """A changed row is counted on from its store's last one, so that several stores have rows of one number."""
    erp.put("store-002", "a", price="no price", began_s_ago=500)
    world.sync("full")
    erp.now += 1_000
    for sku in "abc":
        erp.put("store-001", sku, price="none either")
    erp.put("store-001", "d")
    erp.put("store-002", "b", quantity=3)
    summary = world.sync()
    assert [row["state"] for row in summary["vendors"] if row["state"] == "failed"] == []
    found = world.rows("SELECT vendor, count(*) FROM warehouse.quarantine WHERE run_id = 2 GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in found] == [("store-001", 3), ("store-002", 1)]


def test_without_a_snapshot_what_commits_during_the_whole_reading_comes_with_the_changes(make_world, erp, monkeypatch):
    begin, whole = connections.begin, Session.columns_of
    erp.put("store-001", "a")
    erp.put("store-001", "b")
    world = make_world(erp={"url": erp.url, "changes_overlap": 0, **NUMBERS})

    def no_snapshot(connection, timeout_s):
        begin(connection, timeout_s)
        connection.exec_driver_sql("COMMIT")
        return False

    def and_then_a_sale(session, *given):
        yield from list(whole(session, *given))
        for sku in ("a", "b"):
            erp.now += 1
            erp.put("store-001", sku, quantity=7)

    monkeypatch.setattr(connections, "begin", no_snapshot)
    monkeypatch.setattr(Session, "columns_of", and_then_a_sale)
    extracted(world, "full")
    assert watching.news(world.app.context), "the look sees it"
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")


@pytest.mark.parametrize("reading", ["full", "delta"])
def test_a_row_of_the_far_future_does_not_move_the_cursor_there(world, erp, reading):
    extracted(world, "full")
    erp.put("store-001", "a", quantity=1, began_s_ago=-3_650 * 86_400)
    extracted(world, reading)
    assert held(world.app, "store-001") == theirs(erp, "store-001")
    erp.now += 1_000
    erp.put("store-001", "b", quantity=2)
    assert watching.news(world.app.context)
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")


def test_a_vendor_whose_last_rows_are_lost_fails_alone_and_the_cursor_waits(world, erp):
    extracted(world, "full")
    with world.app.context.engine.begin() as connection:
        statement = readings.reading.update().where(readings.reading.c.vendor == "store-001")
        connection.execute(statement.values(raw_path="raw/store-001/" + "0" * 64 + ".parquet"))
    erp.now += 1_000
    for vendor in STORES:
        erp.put(vendor, "a", quantity=4)
    position = world.rows("SELECT cursor FROM ledger.position")
    assert extracted(world) == ["store-002"]
    assert world.rows("SELECT cursor FROM ledger.position") == position
    assert held(world.app, "store-002") == theirs(erp, "store-002")
    extracted(world, "full")
    assert held(world.app, "store-001") == theirs(erp, "store-001")


ZONED = TIMES["changes_sql"].replace(" AS changed_at", " || CASE sku WHEN 'b' THEN '+00:00' ELSE '' END AS changed_at")
"""Times with a zone in the rows of one SKU, and without one in the others."""


def test_times_with_and_without_a_zone_are_named_and_the_whole_reading_follows_the_new_ones(make_world, world, erp):
    extracted(world, "full")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=5)
    erp.put("store-001", "b", quantity=5)
    mixed = make_world(erp={"url": erp.url, "changes_overlap": OVERLAP_S, **TIMES, "changes_sql": ZONED})
    with pytest.raises(ConfigurationError, match="some times of changed_at have a zone") as error:
        extracted(mixed)
    assert "SHELFSYNC_ERP__CHANGES_COLUMN" in str(error.value)
    zoned = TIMES["changes_sql"].replace(" AS changed_at", " || '+00:00' AS changed_at")
    moved = make_world(erp={"url": erp.url, "changes_overlap": OVERLAP_S, **TIMES, "changes_sql": zoned})
    with pytest.raises(ConfigurationError, match="the next full sync"):
        extracted(moved)
    extracted(moved, "full")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=7)
    extracted(moved)
    assert held(moved.app, "store-001") == theirs(erp, "store-001")


def test_a_column_of_another_kind_is_followed_after_the_next_whole_reading(make_world, world, erp):
    extracted(world, "full")
    other = make_world(erp={"url": erp.url, "changes_overlap": OVERLAP_S, **NUMBERS})
    with pytest.raises(ConfigurationError, match="the next full sync"):
        extracted(other)
    extracted(other, "full")
    erp.now += 1_000
    erp.put("store-001", "a", quantity=7)
    extracted(other)
    assert held(other.app, "store-001") == theirs(erp, "store-001")


def test_without_a_snapshot_a_vendor_fails_alone_whose_newer_changes_cannot_be_laid_over_the_whole(
    world, erp, monkeypatch
):
    extracted(world, "full")
    begin, read_table = connections.begin, Lake.read_table
    monkeypatch.setattr(connections, "begin", lambda *given: begin(*given) and False)
    erp.now += 1_000
    for vendor in STORES:
        erp.put(vendor, "a", quantity=7)

    def damaged(lake, path, **more):
        if path.startswith("changes/store-002/"):
            raise ValueError("the file is damaged")
        return read_table(lake, path, **more)

    monkeypatch.setattr(Lake, "read_table", damaged)
    assert extracted(world, "full") == ["store-001"]
    (failed,) = world.rows("SELECT vendor, error FROM ledger.vendor_run WHERE state = 'failed'")
    assert failed.vendor == "store-002"
    assert "the next full sync reads it anew" in failed.error
    assert held(world.app, "store-001") == theirs(erp, "store-001")
    monkeypatch.setattr(Lake, "read_table", read_table)
    assert extracted(world, "full") == list(STORES)
    assert held(world.app, "store-002") == theirs(erp, "store-002")


@pytest.mark.slow
def test_a_vendor_is_compared_again_after_its_baseline_moved(world, erp):
    world.sync("full")
    assert extracted(world) == list(STORES)  # what was acknowledged is compared once more
    for _ in range(2):
        world.sync("delta")
    assert extracted(world) == []
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.vendor_run SET base_version = 0 WHERE vendor = 'store-002'"))
    assert extracted(world) == ["store-002"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"changes_sql": "SELECT vendor, sku, changed AS changed_at FROM stock WHERE changed > 0"}, "has no :since"),
        ({"changes_sql": TIMES["changes_sql"].replace("price, ", "")}, "has no column 'price'"),
        ({"changes_sql": TIMES["changes_sql"].replace("changed_at", "at")}, "has no column 'changed_at'"),
        ({"changes_sql": "SELEC :since"}, "does not accept the SELECT of the changes"),
        ({"changes_sql": TIMES["changes_sql"], "changes_sql_file": "x.sql"}, "is set too"),
    ],
)
def test_a_query_that_cannot_work_is_named_before_anything_is_read(make_world, erp, changed, message):
    erp.put("store-001", "a")
    world = make_world(erp={"url": erp.url, "sql": TIMES["sql"], **changed})
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__CHANGES") as error:
        world.app.check()
    assert message in str(error.value)


@pytest.mark.slow
def test_the_time_to_the_acknowledgement_counts_from_the_change_of_the_erp(make_world, platform, erp):
    platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "a", "price": 9.99, "active": True}])
    erp.put("store-001", "a")
    zoned = TIMES["changes_sql"].replace(" AS changed_at", " || '+00:00' AS changed_at")
    world = make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_sql": zoned, "changes_overlap": OVERLAP_S})
    world.sync("full")
    erp.now = int(time.time()) - 100
    erp.put("store-001", "a", quantity=0)
    world.sync("delta")
    (job,) = world.rows(
        "SELECT extract(epoch FROM ended_at - wanted_at) AS took_s FROM warehouse.catalog_job WHERE run_id = 2"
    )
    assert 99 < job.took_s < 200
    erp.now += 10_000  # the clock of the ERP is wrong
    erp.put("store-001", "a", quantity=5)
    world.sync("delta")
    (job,) = world.rows(
        "SELECT extract(epoch FROM ended_at - wanted_at) AS took_s FROM warehouse.catalog_job WHERE run_id = 3"
    )
    assert 0 <= job.took_s < 60


def test_a_feed_that_has_stopped_does_not_bring_back_what_the_whole_reading_corrected(make_world, erp):
    erp.put("store-001", "a", quantity=5)
    erp.execute("CREATE TABLE feed AS SELECT * FROM stock")
    stopped = TIMES["changes_sql"].replace("FROM stock", "FROM feed")
    world = make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_sql": stopped, "changes_overlap": OVERLAP_S})
    extracted(world, "full")
    extracted(world)
    erp.put("store-001", "a", quantity=0)
    extracted(world, "full")
    extracted(world)
    assert held(world.app, "store-001") == theirs(erp, "store-001")
    erp.execute("UPDATE feed SET changed = changed + 1")  # it goes on, and reports 5 again
    extracted(world)
    assert held(world.app, "store-001") == [("a", "1.00", 5, 1)]
