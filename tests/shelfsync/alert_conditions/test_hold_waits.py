"""Alerts `hold_waits` and `hold_expires`: held changes wait for a person, and when a further hold is news."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import PRODUCT, acknowledged, having, kinds, lines, older, revision, take_on
from shelfsync.alerts.ledger import alerts

HELD = {("hold_waits", "catalog shifted_decimal")}


EXPIRES = HELD | {("hold_expires", "catalog shifted_decimal")}


def test_a_held_price_waits_until_a_person_decides_also_after_its_time(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    assert kinds(context) == HELD
    take_on(context)
    older(context, "ledger.hold", "expires_at", 60 * 23)
    assert kinds(context) == EXPIRES
    assert "the first until " in lines(context)["hold_expires"]
    assert acknowledged(context) == {"hold_waits": "ada", "hold_expires": None}, "it is no news that it waits"
    older(context, "ledger.hold", "expires_at", 60 * 24 * 30)
    assert kinds(context) == EXPIRES
    assert "the time of the first ended at " in lines(context)["hold_expires"], "no run has expired it"
    world.sync("delta")
    assert kinds(context) == EXPIRES
    for line in lines(context).values():
        assert "rule shifted decimal: 1 change of store-001 has expired without a decision, the last at " in line
    with context.engine.connect() as connection:
        assert [row for row in alerts.newest(connection) if row["closed_at"] is not None] == [], "none was over"
    hold = world.app.holds.listed()[0]["hold_id"]
    world.app.holds.reopen(hold, who="ada", why="asked")
    assert kinds(context) == HELD
    world.app.holds.decide(hold, approve=False, who="ada", why="wrong")
    assert kinds(context) == set()


@pytest.mark.slow
def test_an_expired_hold_that_another_waits_beside_is_named_and_ends_with_its_rows(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    older(context, "ledger.hold", "expires_at", 60 * 24 * 30)
    world.sync("delta")
    insert = "INSERT INTO ledger.hold (subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, held_at, expires_at)"
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(f"""{insert} SELECT subject, 'store-002', first_run_id, run_id, generation, rule, message, thresholds, rows_path,
                7, held_at, now() + interval '1 day' FROM ledger.hold""")
        )
    assert kinds(context) == EXPIRES
    assert "rule shifted decimal: 7 changes of store-002 wait for a decision" in lines(context)["hold_waits"]
    assert "Besides, 1 change of store-001 has expired" in lines(context)["hold_waits"]
    world.erp.put("store-001", "a", "1.00")
    world.sync("delta")
    assert kinds(context) == HELD


@pytest.mark.slow
def test_a_further_hold_is_reported_again_unless_it_takes_the_place_of_one(world, context):
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", "b")])
    world.erp.put("store-001", "b", "1.00")
    world.sync("full")
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    assert kinds(context) == HELD
    take_on(context)
    first = revision(context, "hold_waits")
    world.erp.put("store-001", "a", "95.00")
    world.sync("delta")
    assert kinds(context) == HELD
    assert (acknowledged(context)["hold_waits"], revision(context, "hold_waits")) == ("ada", first), "the same question"
    world.erp.put("store-001", "b", "95.00")
    world.sync("delta")
    assert kinds(context) == HELD
    assert acknowledged(context)["hold_waits"] is None, "twice as many rows"
    assert revision(context, "hold_waits") > first


def test_held_promotions_wait_for_nobody_once_the_settings_have_none(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET subject = 'promotions', rule = 'deep_discount'"))
    assert kinds(having(context, "promotions", sql="SELECT 1")) == {("hold_waits", "promotions deep_discount")}
    assert kinds(context) == set()
