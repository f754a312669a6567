"""The page of differences has the rows of each store's newest export by cause, filtered, sorted, and as a file."""

from __future__ import annotations

import pytest

from csv_answer import rows_of
from shelfsync.catalog.steps.overview import overview


def product(sku, price):
    return {"sku": sku, "barcodes": [], "title": sku, "price": price, "active": True}


@pytest.fixture
def drifted(make_world):
    """Two stores; the platform shows other prices than it accepted, in the second store of one product only."""
    world = make_world(drift={"propagation_s": 0})
    for store in ("store-001", "store-002"):
        world.platform.put_products(store, [product(sku, 9.0) for sku in "ab"])
        for sku in "ab":
            world.erp.put(store, sku, "1.00")
    world.sync("full")
    world.platform.put_products("store-001", [product(sku, 7.0) for sku in "ab"])
    world.platform.put_products("store-002", [product("a", 1.0), product("b", 7.0)])
    world.app.export("test/1", (), progress=lambda *_: None)
    return world


@pytest.mark.slow
def test_differences_stand_by_cause_as_the_status_counts_them(drifted, browse):
    pages = browse(drifted.app)
    [counted] = overview(drifted.app.context)["drift"]
    shown = pages.get("/drift").text
    rows = rows_of(pages.get("/drift.csv"))
    assert (len(rows), counted["differing"], counted["stores"]) == (3, 3, 2)
    assert {row["cause"] for row in rows} == {counted["cause"]}
    assert f'href="/shelfsync/pages/drift?cause={counted["cause"]}">3 ' in shown
    assert f"/drift?cause={counted['cause']}" in pages.get("/").text
    assert "SHELFSYNC_" not in shown
    assert shown.count("<td>1.00<td>1.00<td>7.00<td>") == 3, "prices with the digits of prices"


CASES = {
    "?vendor=store-002": [("store-002", "b")],
    "?sku=a": [("store-001", "a")],
    "?cause=held": [],
    "?field=price&order=newest+export": [("store-001", "a"), ("store-001", "b"), ("store-002", "b")],
    "?order=product": [("store-001", "a"), ("store-001", "b"), ("store-002", "b")],
}


@pytest.mark.slow
def test_the_address_filters_and_sorts(drifted, browse):
    pages = browse(drifted.app)
    for query, found in CASES.items():
        rows = [(row["vendor"], row["sku"]) for row in rows_of(pages.get(f"/drift.csv{query}"))]
        assert (rows if "product" in query else sorted(rows)) == found, query


def test_where_nothing_differs_the_page_has_that(world, browse):
    assert "No value differs in the newest export" in browse(world.app).get("/drift").text
    assert browse(world.app).get("/drift?order=price").status_code == 404
