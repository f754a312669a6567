"""What the guards must not miss over several runs, on the whole path: the platform never shows what a person did not let through."""

from __future__ import annotations

from decimal import Decimal

import pytest

V = "store-001"
SKUS = [f"s{number:03}" for number in range(60)]
NEW = [f"n{number:03}" for number in range(60)]


def _stocked(world):
    """Sixty products, acknowledged; the platform lists sixty more, off sale and at a price of its own."""
    listed = [{"sku": sku, "barcodes": [], "title": sku, "price": 1.0, "active": True} for sku in SKUS]
    foreign = [{"sku": sku, "barcodes": [], "title": sku, "price": 77.0, "active": False} for sku in NEW]
    world.platform.put_products(V, listed + foreign)
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{number + 1}.50", 10)
    assert world.sync("full")["accepted"] == 60
    return world


@pytest.fixture
def shop(world):
    return _stocked(world)


def _rules(world, *states):
    return [(hold["rule"], hold["rows"]) for hold in world.app.holds.listed(*states)]


def _make_unconfirmed(world):
    """A sync without any report: its sent values are unknown from then on."""
    world.begin("full", upto="deliver")
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.job SET deadline_at = ledger.instant() - interval '1 hour', platform_job_id = 'x' || platform_job_id"
            " WHERE state = 'open'"
        )
    world.app.recover()
    assert world.rows("SELECT state FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1") == [
        ("unconfirmed",)
    ]


DOUBTFUL = {"sync": {"job_deadline_s": 1, "readback_requests_max": 0}}


@pytest.mark.slow
def test_an_accident_after_a_sync_of_which_no_word_came_is_held(make_world):
    shop = _stocked(make_world(**DOUBTFUL))
    _make_unconfirmed(shop)
    assert shop.rows("SELECT known_path IS NOT NULL FROM ledger.baseline ORDER BY version DESC LIMIT 1") == [(True,)]
    for number, sku in enumerate(SKUS):
        shop.erp.put(V, sku, f"{number + 1}50", 0)
    shop.erp.put(V, SKUS[59], "6050", 1)
    shop.sync("delta")
    assert sorted(_rules(shop, "open")) == [("shifted_decimal", 60), ("zero_stock", 59)]
    assert Decimal(str(shop.shown()["s001"]["price"])) == Decimal("2.5")
    (price,) = [hold for hold in shop.app.holds.listed("open") if hold["rule"] == "shifted_decimal"]
    (row,) = shop.app.holds.show(price["hold_id"], rows=1)["rows_shown"]
    assert row["price"] == 100 * row["price_before"], "the person sees the last known price"
    for number, sku in enumerate(SKUS):
        shop.erp.put(V, sku, f"{number + 1}.50", 10)
    assert shop.sync("delta")["sent"] == 60, "unknown values are sent again, even if they equal the last known ones"
    assert shop.app.holds.listed("open") == []
    assert shop.rows("SELECT known_path FROM ledger.baseline ORDER BY version DESC LIMIT 1") == [(None,)]


@pytest.mark.slow
def test_an_accident_after_a_first_sync_of_which_no_word_came_is_held(make_world):
    world = make_world(**DOUBTFUL)
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 1.0, "active": True} for sku in SKUS]
    )
    for sku in SKUS:
        world.erp.put(V, sku, "2.50", 10)
    _make_unconfirmed(world)
    for sku in SKUS:
        world.erp.put(V, sku, "250", 10)
    world.sync("delta")
    assert _rules(world, "open") == [("shifted_decimal", 60)]


@pytest.mark.slow
def test_a_slipped_price_is_held_if_an_export_showed_another_price_than_the_acknowledged_one(make_world):
    shop = _stocked(make_world(drift={"propagation_s": 0}))
    shop.platform.faults({"at": "job", "kind": "not_applied"})
    shop.erp.put(V, "s001", "2.60", 10)
    assert shop.sync("delta")["accepted"] == 1
    shop.platform.faults()
    assert shop.app.export("test/export", (), progress=lambda *_: None)["resent"] >= 1
    assert shop.rows("SELECT price FROM warehouse.baseline WHERE sku = 's001'") == [(None,)]
    shop.erp.put(V, "s001", "260", 10)
    shop.sync("delta")
    assert _rules(shop, "open") == [("shifted_decimal", 1)]
    assert Decimal(str(shop.shown()["s001"]["price"])) == Decimal("2.5")
    shop.erp.put(V, "s001", "2.60", 10)
    assert shop.sync("delta")["sent"] == 1
    assert Decimal(str(shop.shown()["s001"]["price"])) == Decimal("2.6")


def _quantities(world, *, closed):
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{number + 1}.50", 0 if number < 40 and closed else 10)


@pytest.mark.slow
def test_a_store_that_reopens_as_it_was_before_an_approved_closure_is_no_file_of_before(shop):
    _quantities(shop, closed=True)
    shop.sync("delta")
    (hold,) = shop.app.holds.listed("open")
    assert (hold["rule"], hold["rows"]) == ("zero_stock", 40)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.app.holds.deliver(hold["hold_id"])
    assert shop.sync("full")["sent"] == 60, "the closure lasts over a full sync"
    _quantities(shop, closed=False)
    assert (shop.sync("delta")["sent"], _rules(shop, "open")) == (40, [])
    assert all(shop.shown()[sku]["active"] for sku in SKUS)


@pytest.mark.slow
def test_a_file_older_than_the_last_one_stays_held_if_no_person_approved_what_it_reverts(shop):
    for number, sku in enumerate(SKUS[:22]):
        shop.erp.put(V, sku, f"{number + 1}.60", 10)
    assert shop.sync("delta")["sent"] == 22
    _quantities(shop, closed=False)
    assert (shop.sync("delta")["sent"], _rules(shop, "open")) == (0, [("duplicate_feed", 22)])


@pytest.mark.slow
def test_a_file_from_before_the_one_before_an_approved_closure_stays_a_question(shop):
    for number, sku in enumerate(SKUS[:22]):
        shop.erp.put(V, sku, f"{number + 1}.60", 10)
    assert shop.sync("delta")["sent"] == 22
    for number, sku in enumerate(SKUS):
        shop.erp.put(V, sku, f"{number + 1}.{60 if number < 22 else 50}", 0 if number < 40 else 10)
    shop.sync("delta")
    (hold,) = shop.app.holds.listed("open")
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.app.holds.deliver(hold["hold_id"])
    _quantities(shop, closed=False)
    assert (shop.sync("delta")["sent"], _rules(shop, "open")) == (0, [("duplicate_feed", 40)])


def _urgent(world, *skus):
    run_id = world.app.open_run("delta", f"urgent/{'/'.join(skus)}", (V,), skus=skus)
    return world.app.sync(run_id, dry_run=False, progress=lambda *_: None)


@pytest.mark.slow
def test_a_store_that_was_tried_with_single_skus_has_its_first_sync_still_before_it(world):
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 1.0, "active": True} for sku in [*SKUS, *NEW]]
    )
    for sku in SKUS:
        world.erp.put(V, sku, "2.50", 10)
    assert [_urgent(world, sku)["sent"] for sku in SKUS[:2]] == [1, 1]
    assert world.sync("full")["accepted"] == 60
    for sku in NEW:
        world.erp.put(V, sku, "2.50", 10)
    assert _urgent(world, NEW[0])["sent"] == 0
    assert world.sync("delta")["sent"] == 0
    assert _rules(world, "open") == [("new_skus", 60)], "the range of another store is no first sync"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["declined", "expired"])
def test_a_new_product_that_was_not_let_in_is_not_put_on_sale_by_a_sale_at_the_counter(shop, how):
    for sku in NEW:
        shop.erp.put(V, sku, "2.50", 10)
    shop.sync("delta")
    (hold,) = shop.app.holds.listed("open")
    assert (hold["rule"], hold["rows"]) == ("new_skus", 60)
    if how == "declined":
        shop.app.holds.decide(hold["hold_id"], approve=False, who="ada")
    else:
        shop.app.holds.expire(hold["hold_id"])
    for sku in NEW[:30]:
        shop.erp.put(V, sku, "2.50", 9)
    assert shop.sync("delta")["sent"] == 0
    shown = shop.shown()
    assert {(shown[sku]["price"], shown[sku]["active"]) for sku in NEW} == {(77.0, False)}
    still = max(shop.app.holds.listed(how), key=lambda one: one["hold_id"])
    shop.app.holds.reopen(still["hold_id"], who="ada", why="they are for sale")
    assert shop.app.holds.decide(still["hold_id"], approve=True, who="ada")["state"] == "approved"
    shop.app.holds.deliver(still["hold_id"])
    shop.platform.until_quiescent()
    shown = shop.shown()
    assert {(Decimal(str(shown[sku]["price"])), shown[sku]["active"]) for sku in NEW} == {(Decimal("2.5"), True)}


@pytest.mark.slow
def test_a_store_whose_stock_falls_below_the_sales_buffer_is_held(make_world):
    shop = _stocked(make_world(suppression={"sales_buffer": 3}))
    for number, sku in enumerate(SKUS):
        shop.erp.put(V, sku, f"{number + 1}.50", 1)
    summary = shop.sync("delta")
    assert (summary["sent"], _rules(shop, "open")) == (0, [("empty_feed", 60)])
