"""What is explained of a SKU whose picture, or whose job, says otherwise than what was acknowledged."""

from __future__ import annotations

import itertools

import pytest

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}
SKUS = ("a", "b", "c")
_keys = itertools.count(1)


def _export(world):
    return world.house.export(f"test/explain/{next(_keys)}", (), tell=lambda *_: None)


@pytest.fixture
def make_shelf(make_world):
    """Three products that the platform and the ERP agree about, and a picture of them; differences count at once."""

    def make(**drift):
        world = make_world(drift={"propagation_s": 0} | drift)
        _put(world, *SKUS)
        for sku in SKUS:
            world.erp.put("store-001", sku, "3.99")
        assert world.sync("full")["accepted"] == 3
        assert _export(world)["drifts"] == 0
        return world

    return make


def _put(world, *skus, **values):
    world.platform.put_products("store-001", [{**A, "sku": sku} | values for sku in skus])


def _told(world, sku="a"):
    return world.house.explain("store-001", sku)


@pytest.mark.parametrize("action", ["report", "heal"])
def test_a_sku_that_was_removed_on_the_platform_is_not_said_to_show_its_price(make_shelf, action):
    shelf = make_shelf(changed_on_platform=action)
    _put(shelf, "b", "c", price=3.99)
    assert _export(shelf)["drifts"] == 1
    told = _told(shelf)
    assert told.sentence.startswith("The platform does not show it as of ")
    for false in ("It shows", "never acknowledged", "no export has shown", "says the same"):
        assert false not in told.sentence
    assert "The ERP says price 3.99" in told.sentence
    assert told.observed.absent
    assert "It shows 3.99" in _told(shelf, "b").sentence


def test_a_removal_that_nobody_heals_is_not_promised_to_the_next_run(make_shelf):
    shelf = make_shelf(changed_on_platform="report")
    _put(shelf, "b", "c", price=3.99)
    _export(shelf)
    assert shelf.sync("delta")["sent"] == 0
    assert (
        "when the platform does what it acknowledged, or a full sync or a healing says it again"
        in _told(shelf).sentence
    )


def test_a_sku_that_neither_the_erp_nor_the_platform_has_is_in_step(make_shelf):
    shelf = make_shelf()
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    shelf.sync("delta")
    _put(shelf, "b", "c", price=3.99)
    _export(shelf)
    told = _told(shelf)
    assert told.sentence.startswith("The platform does not show it")
    assert "The ERP does not have it" in told.sentence


def test_a_sku_that_was_always_refused_is_told_by_the_picture_without_it(make_shelf):
    shelf = make_shelf()
    shelf.erp.put("store-001", "new", "5.00")
    shelf.sync("delta")
    _export(shelf)
    told = _told(shelf, "new").sentence
    assert told.startswith("The platform does not show it as of ")
    assert "It never acknowledged this SKU" in told


def test_what_a_silent_job_carried_is_not_said_to_be_a_success(make_shelf):
    shelf = make_shelf()
    shelf.platform.faults({"at": "log", "kind": "missing_sku"}, {"at": "job", "kind": "not_applied"})
    for sku in SKUS:
        shelf.erp.put("store-001", sku, "2.00")
    assert shelf.sync("delta")["unaccounted"] == 1
    shelf.platform.faults()
    ((silent,),) = shelf.rows("SELECT sku FROM warehouse.sku_outcome WHERE state = 'unaccounted'")
    told = _told(shelf, silent)
    assert told.sentence.startswith("Its price is not known since ")
    assert "run 2 (delta, begun" in told.sentence
    assert "carried it in job 2 and the platform did not say what became of it" in told.sentence
    assert "said success" not in told.sentence
    assert "showed 3.99" in told.sentence, "what is known of the time before"
    _export(shelf)
    told = _told(shelf, silent).sentence
    assert "It shows 3.99 since" in told
    assert "said success" not in told


def test_a_sku_that_only_silent_jobs_carried_is_not_said_to_be_unheard_of(make_world):
    world = make_world()
    _put(world, *SKUS)
    for sku in SKUS:
        world.erp.put("store-001", sku, "3.99")
    world.platform.faults({"at": "log", "kind": "missing_sku"})
    assert world.sync("full")["unaccounted"] == 1
    ((silent,),) = world.rows("SELECT sku FROM warehouse.sku_outcome WHERE state = 'unaccounted'")
    told = _told(world, silent).sentence
    assert told.startswith("What it shows is not known since ")
    assert "job 1 and the platform did not say what became of it" in told
    assert "never acknowledged" not in told


def test_a_price_edited_in_the_portal_is_told_until_a_job_has_put_it_right(make_shelf):
    shelf = make_shelf()
    shelf.platform.put_products("store-001", [{**A, "sku": "a"}, *({**A, "sku": sku, "price": 3.99} for sku in "bc")])
    assert _export(shelf)["healed"] == 1
    told = _told(shelf).sentence
    assert "It shows 9.99 since" in told
    assert "picture 2 of the platform did not bear it out, so it is to be said again" in told
    assert "it will show 3.99 when the next run has sent it" in told
    shelf.sync("delta")
    assert "It shows 3.99 since" in _told(shelf).sentence


def test_a_product_switched_off_in_the_portal_is_told_as_off_sale(make_shelf):
    shelf = make_shelf()
    rows = [{**A, "sku": sku, "price": 3.99, "active": sku != "a"} for sku in SKUS]
    shelf.platform.put_products("store-001", rows)
    assert _export(shelf)["healed"] == 1
    told = _told(shelf).sentence
    assert "It shows 3.99, off sale since" in told
    assert "it will show 3.99, on sale when the next run has sent it" in told


def test_what_was_never_said_is_not_in_doubt(make_world):
    """An ERP that leaves the price to the portal: a picture puts in doubt what was said, and nothing else."""
    world = make_world(drift={"propagation_s": 0})
    rows = [{**A, "sku": sku} for sku in SKUS]
    world.platform.put_products("store-001", rows)
    for sku in SKUS:
        world.erp.put("store-001", sku, None)
    world.sync("full")
    assert _export(world)["drifts"] == 0
    world.platform.put_products("store-001", [{**row, "active": row["sku"] != "a"} for row in rows])
    assert _export(world)["healed"] == 1
    told = _told(world)
    assert told.acknowledged.in_doubt == ("active",)
    assert "It shows 9.99, off sale since" in told.sentence
