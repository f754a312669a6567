"""Without webhook, status and log the listing ends a job if it is cheap; otherwise the job is unconfirmed (I2, I7)."""

from __future__ import annotations

from decimal import Decimal

import pytest

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
SKUS = ("a", "b", "c", "d", "e")
SHORT = {"poll_first_s": 0.05, "poll_max_s": 0.1, "job_deadline_s": 1.5}
SILENCE = ({"at": "log", "kind": "status_404"}, {"at": "job_status", "kind": "status_404"})


def _shelf(world):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])
    for sku in SKUS:
        world.erp.put("store-001", sku, "1.00")
    assert world.sync("full")["accepted"] == len(SKUS)


@pytest.fixture
def make_shelf(world_after):
    """Five products whose first values are acknowledged; from then on the platform reports nothing about a job."""

    def make(**sync):
        world = world_after(_shelf, sync={**SHORT, **sync})
        world.platform.faults(*SILENCE)
        return world

    return make


def _asked(world, operation):
    return len([entry for entry in world.platform.journal()["entries"] if entry["operation"] == operation])


def _job(world):
    return world.rows(
        "SELECT state, accepted, unaccounted FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1"
    )[0]


@pytest.mark.slow
def test_an_unconfirmed_price_is_acknowledged_by_the_listing_and_not_sent_again(make_shelf):
    shelf = make_shelf()
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    assert tuple(_job(shelf)) == ("acknowledged", 1, 0)
    assert _asked(shelf, "list_catalog") == 1
    shelf.platform.faults()
    assert shelf.sync("delta")["sent"] == 0
    (price,) = shelf.rows("SELECT price FROM warehouse.baseline WHERE sku = 'a'")
    assert price.price == Decimal("2.000")


@pytest.mark.slow
def test_where_there_are_many_the_listing_is_read_page_by_page(make_shelf):
    shelf = make_shelf()
    for sku in SKUS:
        shelf.erp.put("store-001", sku, "2.00")
    shelf.sync("delta")
    assert tuple(_job(shelf)) == ("acknowledged", 5, 0)
    assert _asked(shelf, "list_catalog") == 1


@pytest.mark.slow
def test_a_sku_that_the_listing_does_not_prove_is_sent_again(make_shelf):
    shelf = make_shelf()
    shelf.platform.faults(*SILENCE, {"at": "job", "kind": "stuck"})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    assert tuple(_job(shelf)) == ("unconfirmed", 0, 1)
    shelf.platform.faults()
    assert shelf.sync("delta")["accepted"] == 1


@pytest.mark.slow
def test_a_quantity_is_not_in_the_listing_so_nothing_is_asked(make_shelf):
    shelf = make_shelf()
    shelf.erp.put("store-001", "a", "1.00", 4)
    shelf.sync("delta")
    assert _job(shelf).state == "unconfirmed"
    assert _asked(shelf, "list_catalog") == 0


@pytest.mark.slow
def test_what_the_listing_does_not_prove_is_unaccounted_beside_what_it_does(make_shelf):
    shelf = make_shelf()
    shelf.erp.put("store-001", "a", "2.00")
    shelf.erp.put("store-001", "b", "1.00", 4)
    (vendor,) = shelf.sync("delta")["vendors"]
    assert "no log came, and the listing does not show 1 of 2 SKUs as they were sent" in vendor["error"]
    assert tuple(_job(shelf)) == ("acknowledged", 1, 1)
    shelf.platform.faults()
    summary = shelf.sync("delta")
    assert (summary["sent"], summary["accepted"]) == (1, 1)


@pytest.mark.slow
def test_an_unknown_sku_that_the_listing_shows_is_sent_again_and_a_listing_that_lies_costs_one_try(make_shelf):
    shelf = make_shelf()
    shelf.platform.faults()
    shelf.erp.put("store-001", "late", "5.00")
    assert shelf.sync("delta")["rejected"] == 1
    shelf.platform.put_products("store-001", [{**A, "sku": sku} for sku in (*SKUS, "late")])
    shelf.platform.faults(*SILENCE)
    for sku in SKUS:  # more than are searched one by one, so that the whole listing is read
        shelf.erp.put("store-001", sku, "2.00")
    shelf.sync("delta")
    assert tuple(shelf.rows("SELECT sku, released_by FROM ledger.rejection")[0]) == ("late", "listing")
    shelf.platform.faults()
    shelf.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])  # as if it had never been there
    assert shelf.sync("delta")["rejected"] == 1
    assert shelf.sync("delta")["sent"] == 0
    assert shelf.rows("SELECT released_by FROM ledger.rejection")[0].released_by is None


@pytest.mark.slow
def test_a_rejection_newer_than_the_listing_is_not_released_by_it(make_shelf):
    from shelfsync.catalog.assortment import unknown_skus

    shelf = make_shelf()
    shelf.platform.faults()
    shelf.erp.put("store-001", "late", "5.00")
    shelf.sync("delta")
    context = shelf.app.context
    before = unknown_skus.unknown_now(context, "store-001")
    shelf.erp.put("store-001", "late", "6.00")
    assert shelf.sync("delta")["rejected"] == 1
    unknown_skus.release_listed(context, "store-001", before, ["late"])
    assert shelf.sync("delta")["sent"] == 0
    unknown_skus.release_listed(context, "store-001", unknown_skus.unknown_now(context, "store-001"), ["a", None])
    assert shelf.sync("delta")["sent"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 1])
def test_a_listing_that_costs_more_than_allowed_is_not_read(make_shelf, most):
    shelf = make_shelf(readback_requests_max=most)
    shelf.platform.put_products("store-001", [{**A, "sku": sku} for sku in (*SKUS, *(f"x{n:04}" for n in range(600)))])
    for sku in SKUS[:2]:
        shelf.erp.put("store-001", sku, "2.00")
    shelf.sync("delta")
    assert _job(shelf).state == "unconfirmed"
    assert _asked(shelf, "list_catalog") == most  # the first page has the number of pages


@pytest.mark.slow
def test_a_platform_without_a_status_call_is_asked_once_and_left_alone_for_a_while(make_world):
    world = make_world(sync={**SHORT, "job_deadline_s": 2.5})
    world.platform.put_products("store-001", [A])
    world.platform.faults({"at": "job_status", "kind": "status_404"}, {"at": "job", "kind": "stuck"})
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    assert _asked(world, "job_status") == 1
    assert _job(world).state == "unconfirmed"


@pytest.mark.slow
def test_a_404_of_one_job_does_not_stop_polling_if_the_call_has_worked(make_world):
    world = make_world(sync=SHORT)
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    world.platform.faults({"at": "job_status", "kind": "status_404", "times": 1})
    world.erp.put("store-001", "a", "2.00")
    assert world.sync("delta")["accepted"] == 1
