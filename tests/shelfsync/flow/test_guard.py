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
    return [(hold["rule"], hold["rows"]) for hold in world.house.holds.listed(*states)]


def _quantities(world, *, closed):
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{number + 1}.50", 0 if number < 40 and closed else 10)


def test_a_store_that_reopens_as_it_was_before_an_approved_closure_is_no_file_of_before(shop):
    _quantities(shop, closed=True)
    shop.sync("delta")
    (hold,) = shop.house.holds.listed("open")
    assert (hold["rule"], hold["rows"]) == ("zero_stock", 40)
    shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.house.holds.deliver(hold["hold_id"])
    assert shop.sync("full")["sent"] == 60, "the closure lasts over a full sync"
    _quantities(shop, closed=False)
    assert (shop.sync("delta")["sent"], _rules(shop, "open")) == (40, [])
    assert all(shop.shown()[sku]["active"] for sku in SKUS)


def test_a_file_from_before_the_last_one_stays_a_question_where_nobody_approved_what_it_undoes(shop):
    for number, sku in enumerate(SKUS[:22]):
        shop.erp.put(V, sku, f"{number + 1}.60", 10)
    assert shop.sync("delta")["sent"] == 22
    _quantities(shop, closed=False)
    assert (shop.sync("delta")["sent"], _rules(shop, "open")) == (0, [("duplicate_feed", 22)])


def test_a_file_from_before_the_one_before_an_approved_closure_stays_a_question(shop):
    for number, sku in enumerate(SKUS[:22]):
        shop.erp.put(V, sku, f"{number + 1}.60", 10)
    assert shop.sync("delta")["sent"] == 22
    for number, sku in enumerate(SKUS):
        shop.erp.put(V, sku, f"{number + 1}.{60 if number < 22 else 50}", 0 if number < 40 else 10)
    shop.sync("delta")
    (hold,) = shop.house.holds.listed("open")
    shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.house.holds.deliver(hold["hold_id"])
    _quantities(shop, closed=False)
    assert (shop.sync("delta")["sent"], _rules(shop, "open")) == (0, [("duplicate_feed", 40)])


def _urgent(world, *skus):
    run_id = world.house.open_run("delta", f"urgent/{'/'.join(skus)}", (V,), skus=skus)
    return world.house.sync(run_id, dry_run=False, tell=lambda *_: None)


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


@pytest.mark.parametrize("how", ["rejected", "expired"])
def test_a_new_product_that_was_not_let_in_is_not_put_on_sale_by_a_sale_at_the_counter(shop, how):
    for sku in NEW:
        shop.erp.put(V, sku, "2.50", 10)
    shop.sync("delta")
    (hold,) = shop.house.holds.listed("open")
    assert (hold["rule"], hold["rows"]) == ("new_skus", 60)
    if how == "rejected":
        shop.house.holds.decide(hold["hold_id"], approve=False, who="ada")
    else:
        shop.house.holds.expire(hold["hold_id"], who="nobody")
    for sku in NEW[:30]:
        shop.erp.put(V, sku, "2.50", 9)
    assert shop.sync("delta")["sent"] == 0
    shown = shop.shown()
    assert {(shown[sku]["price"], shown[sku]["active"]) for sku in NEW} == {(77.0, False)}
    still = max(shop.house.holds.listed(how), key=lambda one: one["hold_id"])
    assert shop.house.holds.decide(still["hold_id"], approve=True, who="ada")["state"] == "approved"
    shop.house.holds.deliver(still["hold_id"])
    shop.platform.until_settled()
    shown = shop.shown()
    assert {(Decimal(str(shown[sku]["price"])), shown[sku]["active"]) for sku in NEW} == {(Decimal("2.5"), True)}


def test_a_store_whose_stock_falls_below_the_sales_buffer_is_held(make_world):
    shop = _stocked(make_world(effect={"sales_buffer": 3}))
    for number, sku in enumerate(SKUS):
        shop.erp.put(V, sku, f"{number + 1}.50", 1)
    summary = shop.sync("delta")
    assert (summary["sent"], _rules(shop, "open")) == (0, [("empty_feed", 60)])
