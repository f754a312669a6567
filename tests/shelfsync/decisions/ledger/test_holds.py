"""A question stays the same question while its answer would be the same: new products that sell, a repeated or an older run."""

from __future__ import annotations

from functools import partial

import pytest

from shelfsync.decisions.ledger import holds as table
from shelfsync.decisions.state import HoldState, Place
from sixty_products import NEW, Apart, V, renumber, slip, waiting

pytestmark = pytest.mark.slow


@pytest.fixture
def renumbered(shop):
    return renumber(shop)


def _sold(shop, pieces=1, skus="t%"):
    shop.erp.execute(f"UPDATE stock SET quantity = quantity - {pieces} WHERE sku LIKE '{skus}'")


def _new(shop):
    return {(row["price"], row["active"]) for sku, row in shop.shown().items() if sku in NEW}


def test_new_products_that_go_on_selling_stay_one_question_and_its_answer_sends_the_newest_quantities(renumbered):
    shop = renumbered
    (asked,) = shop.app.holds.ask("ada")
    for skus in ("t000", "t00%"):
        _sold(shop, skus=skus)
        run = shop.sync("delta")["run"]
    (hold,) = waiting(shop)
    assert (hold["hold_id"], hold["rule"], hold["rows"], hold["run_id"]) == (asked["hold"], "new_skus", 60, run)
    assert {row["sku"]: row["quantity"] for row in shop.app.holds.show(asked["hold"])["rows_shown"]}["t000"] == 8
    assert shop.app.holds.ask("bob") == []
    result = shop.app.holds.decide(asked["hold"], approve=True, who="ada")
    assert result["state"] == "approved", result["line"]
    shop.app.holds.deliver(asked["hold"])
    assert _new(shop) == {(2.5, True)}
    assert shop.rows(
        "SELECT sku, quantity FROM warehouse.baseline WHERE sku IN ('t000', 't001', 't010') ORDER BY 1"
    ) == [
        ("t000", 8),
        ("t001", 9),
        ("t010", 10),
    ]
    assert shop.sync("delta")["sent"] == 0


def test_an_approval_of_new_products_passes_whatever_quantity_they_have_by_now(renumbered):
    shop = renumbered
    (hold,) = waiting(shop)
    _sold(shop)
    newer = shop.app.open_run("delta", "test/newer")
    shop.app.extract(newer)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    assert shop.app.holds.deliver(hold["hold_id"])["vendors"] == []
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        shop.app.step(word, newer, [V])
    shop.platform.until_quiescent()
    assert _new(shop) == {(2.5, True)}
    assert waiting(shop) == []


def test_another_price_of_a_new_product_is_another_question(renumbered):
    shop = renumbered
    (hold,) = waiting(shop)
    shop.erp.put(V, "t000", "2.60", 10)
    shop.sync("delta")
    (now,) = waiting(shop)
    assert now["hold_id"] != hold["hold_id"]
    assert shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")["state"] == "superseded"


def test_a_question_that_is_open_from_before_holds_had_an_identity_stays_the_same(shop):
    hold = slip(shop)
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET identity = NULL")
    shop.sync("delta")
    assert [one["hold_id"] for one in waiting(shop)] == [hold["hold_id"]]
    assert shop.rows("SELECT count(*) FROM ledger.hold WHERE identity IS NULL") == [(0,)]


def _guards_change_nothing(shop, older):
    """The guards in an older run, while a newer one has a question."""
    before = _ids(shop)
    assert len(before) == 1
    shop.app.step("guard", older, [V])
    assert _ids(shop) == before


def _ids(shop):
    return [(one["hold_id"], one["run_id"], one["rule"]) for one in waiting(shop)]


def test_the_guards_again_in_an_older_run_change_no_question_of_a_newer_one(shop):
    shop.erp.put(V, "s001", "25.00")
    older = shop.sync("delta")["run"]
    shop.erp.put(V, "s001", "26.00")
    shop.sync("delta")
    _guards_change_nothing(shop, older)


def test_an_older_run_that_is_guarded_late_changes_no_question_of_a_newer_one(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.erp.put(V, "s002", "3.60")
    older, _ = shop.begin("delta", upto="diff")
    shop.erp.put(V, "s001", "26.00")
    shop.sync("delta")
    _guards_change_nothing(shop, older)


@pytest.mark.parametrize("state", [HoldState.APPROVED, HoldState.DECLINED, HoldState.EXPIRED])
def test_a_decision_taken_while_a_newer_run_supersedes_the_hold_stays_as_taken(shop, state):
    number = slip(shop)["hold_id"]
    shop.erp.put(V, "s001", "2.50")
    with shop.app.context.engine.begin() as connection:
        assert table.decide(connection, number, state, who="ada", place=Place.PAGE, why="a new pack")
        newer = Apart(partial(shop.sync, "delta"))
        newer.waits(shop)
    run = newer.end()["run"]
    found = shop.rows("SELECT state, decided_by, why, superseded_by FROM ledger.hold")
    assert found == [(state, "ada", "a new pack", run)]
