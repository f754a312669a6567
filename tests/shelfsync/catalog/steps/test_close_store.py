"""A store that has closed for good: a person takes it out, and it comes back by itself if the ERP has it again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from locks import wait_for_a_lock
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.steps import status
from shelfsync.catalog.steps.close_store import forget
from shelfsync.catalog.steps.pause import one_line
from shelfsync.catalog.steps.take_off_sale import on_sale, take_off_sale
from shelfsync.decisions.hold import Found
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import Subject
from shelfsync.errors import DataError

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def _filled(world):
    for vendor in ("store-001", "store-002"):
        world.platform.put_products(vendor, [A])
        world.erp.put(vendor, "a", "1.00")
    assert world.sync("full")["state"] == "succeeded"
    world.erp.execute("DELETE FROM stock WHERE vendor = 'store-002'")


@pytest.fixture
def closed(world_after):
    """Two stores, of which the ERP has only the first any more."""
    return world_after(_filled)


def _vendors(world):
    return [row["vendor"] for row in status.status(world.app.context)["vendors"]]


@pytest.mark.slow
def test_a_closed_store_fails_every_run_until_it_is_forgotten(closed):
    assert closed.sync()["state"] == "partly_failed"
    forget(closed.app.context, "store-002", why="closed in March", who="ada")
    assert closed.sync()["state"] == "succeeded"
    assert _vendors(closed) == ["store-001"]
    assert [row.forgotten for row in closed.rows("SELECT forgotten FROM ledger.vendor ORDER BY vendor")] == [
        None,
        "closed in March (ada)",
    ]
    assert closed.shown("store-002")["a"]["active"], "nothing is sent to it"


def test_it_is_in_no_export_and_in_no_promotion_for_all(closed):
    from shelfsync.catalog.steps.export import seen
    from shelfsync.promotions.steps.assortment import known_vendors

    forget(closed.app.context, "store-002", why="closed", who="ada")
    with closed.app.context.engine.connect() as connection:
        assert seen(connection) == ("store-001",)
    assert known_vendors(closed.app.context) == ("store-001",)


@pytest.mark.slow
def test_it_comes_back_with_the_first_row_that_the_erp_has_of_it(closed):
    forget(closed.app.context, "store-002", why="closed", who="ada")
    closed.erp.put("store-002", "a", "3.00")
    assert closed.sync()["state"] == "succeeded"
    assert _vendors(closed) == ["store-001", "store-002"]
    assert closed.shown("store-002")["a"]["price"] == 3.0


@pytest.mark.slow
def test_what_is_on_its_way_ends_and_what_is_only_planned_is_not_sent(closed):
    closed.erp.put("store-002", "a", "4.00")
    run_id, _ = closed.begin("delta", upto="deliver")
    assert forget(closed.app.context, "store-002", why="closed", who="ada")["in_flight"] == 1
    closed.app.step("confirm", run_id, ["store-002"])
    closed.app.step("acknowledge", run_id, ["store-002"])
    assert closed.shown("store-002")["a"]["price"] == 4.0
    closed.erp.put("store-002", "a", "5.00")
    run_id, _ = closed.begin("delta", upto="batch")
    forget(closed.app.context, "store-002", why="closed", who="ada")
    closed.app.step("deliver", run_id, ["store-002"])
    assert closed.shown("store-002")["a"]["price"] == 4.0


@pytest.mark.slow
def test_a_vendor_that_was_never_seen_is_named_with_the_nearest(closed):
    with pytest.raises(DataError, match="Did you mean store-002"):
        forget(closed.app.context, "store-02", why="closed", who="ada")


@pytest.mark.slow
def test_no_one_is_asked_about_what_is_held_of_it_and_its_return_asks_anew(closed):
    from shelfsync.decisions.steps import lists

    closed.erp.put("store-002", "a", "100.00")
    closed.sync()
    (hold,) = closed.app.holds.listed("open")
    lines = forget(closed.app.context, "store-002", why="closed", who="ada")["lines"]
    assert "1 holds of it are closed; no one has to decide them" in lines
    assert closed.app.holds.listed("open") == lists.in_force(closed.app.context) == []
    found = closed.app.holds.show(hold["hold_id"])
    assert (found["state"], found["decided_by"], found["why"]) == (
        "superseded",
        "ada",
        "the vendor was forgotten: closed",
    )
    late = closed.app.holds.decide(hold["hold_id"], approve=True, who="bob")
    assert (late["decided"], "nothing was done" in late["line"]) == (False, True)
    closed.sync()
    assert [one["rows"] for one in closed.app.holds.listed("open")] == [1], "the ERP still has it: a new question"


@pytest.mark.slow
def test_an_approval_that_was_not_sent_yet_ends_with_it(closed):
    closed.erp.put("store-002", "a", "100.00")
    closed.sync()
    (hold,) = closed.app.holds.listed("open")
    closed.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    forget(closed.app.context, "store-002", why="closed", who="ada")
    closed.app.recover()
    assert closed.shown("store-002")["a"]["price"] == 1.0


@pytest.mark.parametrize("verb", ["pause", "resume", "forget"])
def test_an_empty_reason_is_reported_under_the_verb_of_the_command(verb):
    with pytest.raises(DataError, match=f"^{verb}: the reason and the person may not be empty"):
        one_line(verb, " \n")


@pytest.mark.slow
@pytest.mark.parametrize("dies_at", ["batch", "deliver", "wait", "confirm"])
def test_an_order_to_take_a_store_off_sale_that_dies_is_completed_by_a_repeat(closed, dies_at):
    def die(step, *_):
        if step == dies_at:
            raise KeyboardInterrupt

    context = closed.app.context
    with pytest.raises(KeyboardInterrupt):
        take_off_sale(context, "store-002", key="test/1", progress=die)
    assert closed.sync()["state"] == "partly_failed", "the store is not forgotten, so it is still reported"
    take_off_sale(context, "store-002", key="test/2", progress=lambda *_: None)
    assert on_sale(context, "store-002").skus == 0
    assert not closed.shown("store-002")["a"]["active"]
    assert closed.shown("store-001")["a"]["active"]


@pytest.mark.slow
def test_a_product_that_the_platform_does_not_know_any_more_keeps_no_store_from_being_taken_off_sale(closed):
    """Its rejection is acknowledged as every other: a closed store has no rows that could have it again."""
    closed.platform.put_products("store-002", [])
    summary = take_off_sale(closed.app.context, "store-002", key="test/1", progress=lambda *_: None)
    assert (summary["state"], summary["rejected"]) == ("succeeded", 1)
    assert closed.rows("SELECT count(*) FROM ledger.job WHERE state IN ('open', 'confirmed')") == [(0,)]
    assert on_sale(closed.app.context, "store-002").skus == 0


def test_it_is_forgotten_while_a_run_renews_its_holds(closed):
    """Both lock the vendor and its holds; in different sequences, the database would end one of them."""
    engine = closed.app.context.engine
    one = Found(
        vendor="store-002", rule="price", category=None, message="m", thresholds={}, rows_path="a", before_path=None, identity="a", rows=1
    )  # fmt: skip
    with engine.begin() as connection:
        holds.add(connection, Subject.CATALOG, one, run_id=1, generation=1, hours=1)

    with ThreadPoolExecutor(1) as pool:
        with engine.begin() as connection:
            vendors.lock(connection, "store-002")
            forgetting = pool.submit(forget, closed.app.context, "store-002", why="closed", who="ada")
            wait_for_a_lock(engine)
            holds.renew(connection, Subject.CATALOG, [one], vendor="store-002", run_id=2, generation=2, hours=1)
        assert "1 holds of it are closed; no one has to decide them" in forgetting.result(20)["lines"]
    assert closed.rows("SELECT state, decided_by FROM ledger.hold") == [("superseded", "ada")]
