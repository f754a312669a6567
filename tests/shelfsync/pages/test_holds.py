"""Holds and the kill switch on their pages: what is shown, and who may decide."""

from __future__ import annotations

import pytest

V = "store-001"


@pytest.fixture
def held(world):
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in "abc"]
    )
    for sku in "abc":
        world.erp.put(V, sku, "2.00")
    world.sync("full")
    world.erp.put(V, "b", "20.00")
    world.sync("delta")
    return world


def test_a_hold_is_listed_and_shown_with_all_its_rows(held, browse):
    pages = browse(held.house)
    listed = pages.get("/holds").text
    assert "shifted_decimal" in listed
    one = pages.get("/holds/1").text
    assert all(text in one for text in (">b<", "2.00", "20.00", "Approve"))
    assert pages.get("/holds/99").status_code == 404
    assert "/explain?vendor=store-001&amp;sku=b" in one
    assert "hold 1" in pages.get("/explain", params={"vendor": V, "sku": "b"}).text


def test_an_approval_on_the_page_is_sent_by_the_schedule(held, browse):
    pages = browse(held.house)
    assert pages.post("/holds/1/approve", follow_redirects=False).status_code == 303
    assert held.rows("SELECT state, decided_by FROM ledger.hold") == [("approved", "ada")]
    assert held.shown()["b"]["price"] == 2.0
    held.house.settle()
    held.platform.until_settled()
    assert held.shown()["b"]["price"] == 20.0


def test_who_may_only_look_decides_nothing(held, browse):
    pages = browse(held.house, may_decide=False)
    assert "Approve" not in pages.get("/holds/1").text
    assert pages.post("/holds/1/approve").status_code == 403
    assert pages.post("/switches/pause", data={"scope": "all", "why": "x"}).status_code == 403
    assert held.rows("SELECT state FROM ledger.hold") == [("open",)]
    assert held.house.switches()["paused"] == []


def test_the_switch_is_turned_and_told_on_its_page_and_on_the_first_one(held, browse):
    pages = browse(held.house)
    assert pages.post("/switches/pause", data={"scope": "all", "why": ""}).status_code == 400
    assert pages.post("/switches/pause", data={"scope": "vendor", "vendor": "nobody", "why": "x"}).status_code == 400
    pages.post("/switches/pause", data={"scope": "vendor", "vendor": V, "why": "stock-taking <b>"})
    for where in ("/", "/switches", "/holds", "/explain", "/orders"):
        assert pages.get(where).text.count("stock-taking &lt;b&gt;") == (2 if where == "/switches" else 1), where
    pages.post("/switches/resume", data={"scope": "vendor", "vendor": V})
    assert "Nothing is paused" in pages.get("/switches").text
