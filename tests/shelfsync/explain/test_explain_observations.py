"""The explanation of a SKU whose export or job differs from what was acknowledged."""

from __future__ import annotations

import itertools

import pytest

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}
SKUS = ("a", "b", "c")
_keys = itertools.count(1)


def _export(world):
    return world.app.export(f"test/explain/{next(_keys)}", (), progress=lambda *_: None)


def _shelf(world):
    _put(world, *SKUS)
    for sku in SKUS:
        world.erp.put("store-001", sku, "3.99")
    assert world.sync("full")["accepted"] == 3
    assert _export(world)["drifts"] == 0


@pytest.fixture
def make_shelf(world_after):
    """Three products that the platform and the ERP agree about, and an export of them; differences count at once."""

    def make(**drift):
        return world_after(_shelf, drift={"propagation_s": 0} | drift)

    return make


def _put(world, *skus, **values):
    world.platform.put_products("store-001", [{**A, "sku": sku} | values for sku in skus])


def _explain(world, sku="a"):
    return world.app.explain("store-001", sku)


@pytest.mark.slow
@pytest.mark.parametrize("action", ["report", "resend"])
def test_a_sku_that_was_removed_on_the_platform_is_not_reported_as_shown(make_shelf, action):
    shelf = make_shelf(changed_on_platform=action)
    _put(shelf, "b", "c", price=3.99)
    assert _export(shelf)["drifts"] == 1
    found = _explain(shelf)
    assert found.sentence.startswith("The platform does not show it as of ")
    assert "another value" not in found.sentence
    for false in ("The platform shows", "never acknowledged", "no export has shown", "has the same values"):
        assert false not in found.sentence
    assert "The ERP has price 3.99" in found.sentence
    assert found.observed.absent
    assert "The platform acknowledged 3.99" in _explain(shelf, "b").sentence


@pytest.mark.slow
def test_a_removal_that_is_not_resent_is_not_promised_for_the_next_run(make_shelf):
    shelf = make_shelf(changed_on_platform="report")
    _put(shelf, "b", "c", price=3.99)
    _export(shelf)
    assert shelf.sync("delta")["sent"] == 0
    assert "when it applies what it acknowledged, or a full sync or a resend repeats it" in _explain(shelf).sentence


@pytest.mark.slow
def test_a_sku_on_sale_of_which_shelfsync_sent_nothing_is_not_promised_to_be_taken_off(make_shelf):
    shelf = make_shelf()
    _put(shelf, "a", "foreign", price=3.99)
    _export(shelf)
    shelf.sync("full")
    assert shelf.platform.products("store-001")["foreign"]["active"]
    found = _explain(shelf, "foreign")
    assert "no run takes it off sale" in found.sentence


@pytest.mark.slow
def test_a_sku_that_neither_the_erp_nor_the_platform_has_is_in_step(make_shelf):
    shelf = make_shelf()
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    shelf.sync("delta")
    _put(shelf, "b", "c", price=3.99)
    _export(shelf)
    found = _explain(shelf)
    assert found.sentence.startswith("The platform does not show it")
    assert "The ERP does not have it" in found.sentence


@pytest.mark.slow
def test_an_always_rejected_sku_is_explained_by_the_export_without_it(make_shelf):
    shelf = make_shelf()
    shelf.erp.put("store-001", "new", "5.00")
    shelf.sync("delta")
    _export(shelf)
    found = _explain(shelf, "new").sentence
    assert found.startswith("The platform does not show it as of ")
    assert "The platform never acknowledged this SKU" in found


@pytest.mark.slow
def test_a_job_without_a_result_is_not_reported_as_a_success(make_shelf):
    shelf = make_shelf()
    shelf.platform.faults({"at": "log", "kind": "missing_sku"}, {"at": "job", "kind": "not_applied"})
    for sku in SKUS:
        shelf.erp.put("store-001", sku, "2.00")
    assert shelf.sync("delta")["unaccounted"] == 1
    shelf.platform.faults()
    ((unconfirmed, job),) = shelf.rows("SELECT sku, job_id FROM warehouse.sku_outcome WHERE state = 'unaccounted'")
    found = _explain(shelf, unconfirmed)
    assert found.sentence.startswith("Its price is unknown since ")
    assert "run 2 (delta, started" in found.sentence
    assert f"sent it in job {job}, and the platform reported no result" in found.sentence
    assert "reported success" not in found.sentence
    assert "showed 3.99" in found.sentence, "the value known before"
    _export(shelf)
    found = _explain(shelf, unconfirmed).sentence
    assert "The platform shows 3.99 since" in found
    assert "reported success" not in found


@pytest.mark.slow
def test_a_sku_with_unconfirmed_jobs_alone_is_not_reported_as_never_acknowledged(make_world):
    world = make_world()
    _put(world, *SKUS)
    for sku in SKUS:
        world.erp.put("store-001", sku, "3.99")
    world.platform.faults({"at": "log", "kind": "missing_sku"})
    assert world.sync("full")["unaccounted"] == 1
    ((unconfirmed,),) = world.rows("SELECT sku FROM warehouse.sku_outcome WHERE state = 'unaccounted'")
    found = _explain(world, unconfirmed).sentence
    assert found.startswith("What the platform shows is unknown since ")
    assert "job 1, and the platform reported no result" in found
    assert "never acknowledged" not in found


@pytest.mark.slow
def test_a_price_edited_in_the_portal_is_reported_until_a_job_corrects_it(make_shelf):
    shelf = make_shelf()
    shelf.platform.put_products("store-001", [{**A, "sku": "a"}, *({**A, "sku": sku, "price": 3.99} for sku in "bc")])
    assert _export(shelf)["resent"] == 1
    found = _explain(shelf).sentence
    assert "The platform shows 9.99 since" in found
    assert "observation 2 of the platform did not confirm it, so shelfsync sends it again" in found
    assert "The platform will show 3.99 when the next run has sent it" in found
    shelf.sync("delta")
    assert "The platform acknowledged 3.99 at" in _explain(shelf).sentence


@pytest.mark.slow
def test_a_product_switched_off_in_the_portal_is_reported_as_off_sale(make_shelf):
    shelf = make_shelf()
    rows = [{**A, "sku": sku, "price": 3.99, "active": sku != "a"} for sku in SKUS]
    shelf.platform.put_products("store-001", rows)
    assert _export(shelf)["resent"] == 1
    found = _explain(shelf).sentence
    assert "The platform shows 3.99, off sale since" in found
    assert "The platform will show 3.99, on sale when the next run has sent it" in found


@pytest.mark.slow
def test_a_value_that_was_never_sent_is_not_unconfirmed(make_world):
    """The ERP leaves the price to the portal: an export makes unconfirmed what was sent, and nothing else."""
    world = make_world(drift={"propagation_s": 0})
    rows = [{**A, "sku": sku} for sku in SKUS]
    world.platform.put_products("store-001", rows)
    for sku in SKUS:
        world.erp.put("store-001", sku, None)
    world.sync("full")
    assert _export(world)["drifts"] == 0
    world.platform.put_products("store-001", [{**row, "active": row["sku"] != "a"} for row in rows])
    assert _export(world)["resent"] == 1
    found = _explain(world)
    assert found.acknowledged.unconfirmed == ("active",)
    assert "The platform shows 9.99, off sale since" in found.sentence
