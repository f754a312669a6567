"""What is explained of a value that a guard holds, by what became of the question."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
_OVER = """
INSERT INTO ledger.hold (vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, state, superseded_by,
    held_at, expires_at, decided_at)
SELECT vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, 'superseded', run_id,
    held_at, expires_at, held_at
FROM ledger.hold, generate_series(1, 40)
"""


@pytest.fixture
def make_held(make_world):
    """A vendor whose SKU `a` shows 3.99, and whose 399.00 is held."""

    def make(**guards):
        world = make_world(guards=guards)
        world.platform.put_products("store-001", [A, {**A, "sku": "b"}])
        world.erp.put("store-001", "a", "3.99")
        world.erp.put("store-001", "b", "1.00")
        world.sync("full")
        world.erp.put("store-001", "a", "399.00")
        assert world.sync("delta")["sent"] == 0
        return world

    return make


def _told(world, sku="a"):
    return world.house.explain("store-001", sku)


def test_a_rejected_price_is_not_promised_to_the_next_run(make_held):
    world = make_held()
    world.house.holds.decide(1, approve=False, who="ada", why="a typing error")
    for _ in range(2):
        told = _told(world)
        assert "It shows 3.99 since" in told.sentence
        assert "the next run has sent it" not in told.sentence
        assert (
            "it will show 399.00 when a person approves hold 1 after all (`shelfsync holds approve 1`)" in told.sentence
        )
        assert (
            "it was rejected by ada (a typing error), so it stays held until the ERP says something else"
            in told.sentence
        )
        assert world.sync("delta")["sent"] == 0, "which is what was said"
    world.erp.put("store-001", "a", "3.49")
    world.sync("delta")
    assert _told(world).waits_for == ()
    assert "It shows 3.49 since" in _told(world).sentence


def test_a_price_that_nobody_decided_about_in_time_is_not_promised_to_the_next_run(make_held):
    world = make_held(hold_hours=0.000001)
    world.sync("delta")
    assert world.rows("SELECT state FROM ledger.hold") == [("expired",)]
    told = _told(world).sentence
    assert "the next run has sent it" not in told
    assert "when a person approves hold 1 after all" in told
    assert "nobody decided in time, so it stays held until the ERP says something else" in told


def test_a_rejected_price_that_is_approved_after_all_waits_for_nobody(make_held):
    world = make_held()
    world.house.holds.decide(1, approve=False, who="ada")
    world.house.holds.decide(1, approve=True, who="ada")
    assert _told(world).waits_for == ()
    world.sync("delta")
    assert "It shows 399.00 since" in _told(world).sentence


def test_an_old_open_hold_is_found_behind_many_that_are_over(make_held):
    world = make_held()
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text(_OVER))
    assert world.rows("SELECT state, count(*) FROM ledger.hold GROUP BY 1 ORDER BY 1") == [
        ("open", 1),
        ("superseded", 40),
    ]
    assert "it will show 399.00 when a person approves hold 1" in _told(world).sentence
