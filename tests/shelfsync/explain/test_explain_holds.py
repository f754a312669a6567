"""The explanation of a held value, by the decision about its hold."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
_CLOSED = """
INSERT INTO ledger.hold (subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, state, superseded_by,
    held_at, expires_at, decided_at)
SELECT subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, 'superseded', run_id,
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


def _explain(world, sku="a"):
    return world.app.explain("store-001", sku)


@pytest.mark.slow
def test_a_declined_price_is_not_promised_for_the_next_run(make_held):
    world = make_held()
    world.app.holds.decide(1, approve=False, who="ada", why="a typing error")
    for _ in range(2):
        found = _explain(world)
        assert "The platform acknowledged 3.99 at" in found.sentence
        assert "the next run has sent it" not in found.sentence
        assert (
            "The platform will show 399.00 when an operator reopens hold 1 (`shelfsync holds reopen 1 --reason TEXT`) and approves it"
            in found.sentence
        )
        assert (
            "The hold was declined by ada (a typing error), so the value stays held until the ERP has another one"
            in found.sentence
        )
        assert world.sync("delta")["sent"] == 0, "as explained"
    world.erp.put("store-001", "a", "3.49")
    world.sync("delta")
    assert _explain(world).waits_for == ()
    assert "The platform acknowledged 3.49 at" in _explain(world).sentence


@pytest.mark.slow
def test_an_expired_hold_is_not_promised_for_the_next_run(make_held):
    world = make_held(hold_hours=0.000001)
    world.sync("delta")
    assert world.rows("SELECT state FROM ledger.hold") == [("expired",)]
    found = _explain(world).sentence
    assert "the next run has sent it" not in found
    assert "when an operator reopens hold 1 " in found
    assert "The hold expired without a decision, so the value stays held until the ERP has another one" in found


@pytest.mark.slow
def test_a_declined_price_that_is_approved_after_all_waits_for_nothing(make_held):
    world = make_held()
    world.app.holds.decide(1, approve=False, who="ada")
    world.app.holds.reopen(1, who="ada", why="it is right")
    world.app.holds.decide(1, approve=True, who="ada")
    assert _explain(world).waits_for == ()
    world.sync("delta")
    assert "The platform acknowledged 399.00 at" in _explain(world).sentence


@pytest.mark.slow
def test_an_old_open_hold_is_found_behind_many_closed_ones(make_held):
    world = make_held()
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text(_CLOSED))
    assert world.rows("SELECT state, count(*) FROM ledger.hold GROUP BY 1 ORDER BY 1") == [
        ("open", 1),
        ("superseded", 40),
    ]
    assert "The platform will show 399.00 when an operator approves hold 1" in _explain(world).sentence
