"""The watch finds each condition, closes it when it is over, and one that cannot be looked at hides no other."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync import conditions, outages
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger import alerts
from shelfsync.orders.steps import watch as orders_watch

PRODUCT = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def kinds(context):
    conditions.watch(context)
    with context.engine.connect() as connection:
        return {(row["kind"], row["subject"]) for row in alerts.open_alerts(connection)}


def older(context, table, column, minutes):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(f"UPDATE {table} SET {column} = {column} - make_interval(mins => :m)"), {"m": minutes}
        )


@pytest.fixture
def context(world):
    world.platform.put_products("store-001", [PRODUCT])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    return world.app.context


def test_where_all_is_well_nothing_opens(context):
    assert kinds(context) == set()


def test_an_installation_without_a_run_has_no_alert(world):
    assert kinds(world.app.context) == set()


def test_an_outage_opens_once_it_lasts_and_closes_with_the_next_answer(context):
    outages.failed(context.engine, outages.PLATFORM, "503")
    assert kinds(context) == set(), "a repeat of the request may heal it"
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(context) == {("platform_away", "")}
    outages.answered(context.engine, outages.PLATFORM)
    assert kinds(context) == set()


def test_no_reading_for_long_is_an_alert_whatever_the_cause(context):
    older(context, "ledger.extract", "read_at", 61)
    assert ("not_read", "") in kinds(context)


def test_a_held_price_waits_and_its_hold_is_about_to_expire(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    (waits,) = kinds(context)
    assert waits[0] == "hold_waits"
    older(context, "ledger.hold", "expires_at", 60 * 24 * 30)
    assert {kind for kind, _ in kinds(context)} == {"hold_expires"}
    world.app.holds.decide(world.app.holds.listed()[0]["hold_id"], approve=False, who="ada", why="wrong")
    assert kinds(context) == set()


def test_a_pause_is_an_alert_and_hides_that_the_store_is_late(world, context):
    world.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    assert kinds(context) == {("paused", "vendor store-001")}


def test_a_failed_store_is_an_alert_until_a_run_has_taken_it(world, context):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'")
        )
    assert kinds(context) == {("store_failed", "store-001")}
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == set()


def test_a_condition_that_cannot_be_looked_at_hides_no_other(context, monkeypatch):
    outages.failed(context.engine, outages.ERP, "no answer")
    older(context, "ledger.outage", "began_at", 2)

    def broken(*_: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setitem(conditions._FINDERS, ("disk",), broken)
    assert kinds(context) == {("erp_away", ""), ("not_watched", "disk")}
    monkeypatch.undo()
    assert kinds(context) == {("erp_away", "")}


def test_every_kind_has_one_that_finds_it():
    found = [kind for looked in conditions._FINDERS for kind in looked]
    assert sorted([*found, *orders_watch.KINDS, "not_watched", "route_away"]) == sorted(KINDS)
