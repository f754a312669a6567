"""A product is found by code, barcode or name, in all stores once or in one store, by index."""

from __future__ import annotations

import re

import pytest

from shelfsync.catalog.assortment import product_search as search

QUERY = """
SELECT vendor, sku, CASE sku WHEN 'x1' THEN '4006381333931' WHEN 'a1' THEN '4012345678901' END AS barcode, price, quantity, active, CASE sku WHEN 'x1' THEN 'Rice drink' ELSE 'Milk ' || sku || ' 3.5%' END AS name
FROM stock
"""


@pytest.fixture
def chain(make_world):
    """Products in two stores, one of them in both, and one that was put into the ERP after the export."""
    world = make_world(erp={"sql": QUERY})
    for store, skus in (("store-001", ["a1", "a2", "x1"]), ("store-002", ["a1", "B1"])):
        rows = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in skus]
        world.platform.put_products(store, rows)
        for sku in skus:
            world.erp.put(store, sku, "1.00")
    world.sync("full")
    world.app.export("test/1", (), progress=lambda *_: None)
    world.erp.put("store-002", "new", "1.00")
    world.sync("delta")
    return world


def found_by(pages, **asked):
    shown = pages.get("/search", params=asked).text
    return re.findall(r"<tr><td>[^<]*<td>([^<]+)<td>", shown), shown


CASES = (
    ({"q": "a"}, ["a1", "a2"]),
    ({"q": "a1"}, ["a1"]),
    ({"q": "400638"}, ["x1"]),
    ({"q": "drink RICE"}, ["x1"]),
    ({"q": "milk"}, ["a1", "a2", "B1", "new"]),
    ({"q": "b1"}, ["B1"]),
    ({"q": "a", "vendor": "store-002"}, ["a1"]),
    ({"q": "ne", "vendor": "store-002"}, ["new"]),
    ({"q": "401234", "vendor": "store-002"}, ["a1"]),
    ({"q": "rice", "vendor": "store-002"}, []),
    ({"q": "%"}, ["a1", "a2", "B1", "new"]),
    ({"q": "3.5%", "vendor": "store-002"}, ["B1", "a1", "new"]),
    ({"q": "a", "vendor": "nowhere"}, []),
)


@pytest.mark.slow
def test_a_product_is_found_by_code_barcode_or_name(chain, browse):
    pages = browse(chain.app)
    for asked, skus in CASES:
        assert sorted(found_by(pages, **asked)[0]) == sorted(skus), asked


@pytest.mark.slow
def test_a_product_of_several_stores_stands_once_and_leads_to_them(chain, browse):
    pages = browse(chain.app)
    found, shown = found_by(pages, q="a1")
    assert found == ["a1"]
    assert '/search/stores?sku=a1">2</a>' in shown
    stores = pages.get("/search/stores?sku=a1").text
    assert re.findall(r"/explain\?vendor=(\S+?)&amp;sku=a1", stores) == ["store-001", "store-002"]
    assert pages.get("/search/stores.csv?sku=a1").text.count("Milk a1") == 2
    assert pages.get("/search/stores").status_code == 400
    assert "cannot be searched" in pages.get("/search").text
    assert "No product is found." in pages.get("/search?q=nothing").text


@pytest.mark.slow
def test_no_more_than_a_page_of_products_is_found(chain, browse, monkeypatch):
    monkeypatch.setattr(search, "MOST", 1)
    assert found_by(browse(chain.app), q="a")[0] == ["a1"]


@pytest.mark.slow
def test_a_few_products_are_suggested_to_a_person_who_types(chain, browse, monkeypatch):
    pages = browse(chain.app, may_decide=False, may_stop=False)

    def suggested(**asked):
        return pages.get("/search/suggestions", params=asked).json()

    assert suggested(q="4006") == [{"sku": "x1", "label": "Rice drink, 4006381333931"}]
    assert suggested(q="ne", vendor="store-002") == [{"sku": "new", "label": "Milk new 3.5%"}]
    assert suggested(q=" ") == suggested(q="rice", vendor="store-002") == suggested() == []
    monkeypatch.setattr("shelfsync.pages.search.SUGGESTIONS", 2)
    assert len(suggested(q="milk")) == 2
