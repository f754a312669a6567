"""Promotions on a page: their states, the holds, and the decision about them."""

from __future__ import annotations

import datetime as dt

import pytest


@pytest.mark.slow
def test_a_hold_on_the_page_can_be_approved_and_declined_later(shop, browse):
    page = browse(shop.world.app)
    assert "shelfsync promotions sync" in page.get("/promotions").text
    shop.erp.put("deep", "a", "1", name="<b>Deep")
    shop.erp.put("fair", "b", "8")
    shop.sync()
    text = page.get("/promotions").text
    assert "Holds that wait for a decision" in text
    assert "a at 1" in text
    assert "Offer fair" in text
    answer = page.post("/promotions/holds/1/approve", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/shelfsync/pages/promotions")
    shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0}
    text = page.get("/promotions").text
    assert "approved by ada" in text
    assert "<b>" not in text, "what came from an ERP is text, never markup"
    page.post("/promotions/holds/1/decline")
    shop.erp.put("deep", "c", "8", name="<b>Deep")
    shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0, "c": 8.0}, "the platform keeps what it had"
    assert shop.rows("SELECT state, decided_by FROM ledger.promotion_hold") == [("declined", "ada")]


def test_a_user_who_may_only_look_decides_nothing(shop, browse):
    shop.erp.put("deep", "a", "1")
    shop.sync()
    page = browse(shop.world.app, may_decide=False)
    assert "<button" not in page.get("/promotions").text
    assert page.post("/promotions/holds/1/approve").status_code == 403
    assert browse(shop.world.app).post("/promotions/holds/7/approve").status_code == 409


@pytest.mark.slow
def test_many_holds_of_one_cause_are_one_question(shop, browse):
    for number, sku in enumerate("abcdab"):
        shop.erp.put(f"c{number}", sku, "1", start=48 * (number // 4), end=48 * (number // 4) + 24)
    summary = shop.sync()
    (line,) = [line for line in summary["lines"] if line.startswith("held")]
    assert line.startswith("held (discount): 6 campaigns, 6 SKUs (c0, c1, c2, c3, c4, …); ")
    path = shop.world.app.promotions
    (row,) = path.status()["held_by_rule"]
    assert (row["rule"], row["holds"], row["campaigns"], row["vendors"], row["skus"]) == ("discount", 6, 6, 1, 6)
    page = browse(shop.world.app)
    assert (
        page.post("/promotions/rules/discount/decline", data={"newest": "3"}, follow_redirects=False).status_code == 303
    )
    assert [hold["campaign"] for hold in path.status()["held"]] == ["c3", "c4", "c5"], (
        "what was not shown is not decided"
    )
    assert path.decide_rule("discount", approve=True, by="ada") == 3
    assert page.post("/promotions/rules/discount/approve", data={"newest": "9"}).status_code == 409
    shop.sync()
    assert len(shop.portal()) == 3


@pytest.mark.slow
def test_one_promotion_is_shown_with_its_skus_requests_rejections_and_findings(shop, browse):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.world.platform.put_products("store-002", [{"sku": "a", "title": "a", "price": 7.0, "active": True}])
    shop.sync()
    shop.world.erp.put("store-001", "a", "7.50")
    shop.world.sync()
    shop.sync()
    page = browse(shop.world.app)
    text = page.get("/promotions/1").text
    for part in ("store-001, store-002, store-003", "COMPLETED", "invalid discounted SKU", "base_price_not_above"):
        assert part in text
    assert "customers pay the base price" in page.get("/promotions").text
    assert page.get("/promotions/99").status_code == 404
    explained = page.get("/explain", params={"vendor": "store-001", "sku": "a"}).text
    assert "customers pay" in explained
    assert 'href="/shelfsync/pages/promotions/1"' in explained
    app = shop.world.app
    app.pause("all", None, why="stocktaking", who="anna")
    assert "stocktaking" in page.get("/promotions").text


@pytest.mark.slow
def test_the_page_shows_some_promotions_alone_and_times_in_the_zone_of_the_erp(make_shop, browse):
    shop = make_shop(promotions={"timezone": "Asia/Kathmandu"})
    for number, sku in enumerate(("a", "stranger", "b")):
        shop.erp.put(f"c{number}", sku, "8", start=number, end=9)
    shop.sync()
    page = browse(shop.world.app)
    ends = f"{shop.erp.now + dt.timedelta(hours=9, minutes=345):%Y-%m-%d %H:%M:%S} +0545"
    assert page.get("/promotions").text.count(ends) == 3
    for query, campaigns in {
        "problems=true": {"Offer c1"},
        "state=upcoming": {"Offer c2"},
        "campaign=c0": {"Offer c0"},
        "state=running&campaign=c2": set(),
        "state=&campaign=": {"Offer c0", "Offer c1", "Offer c2"},
    }.items():
        text = page.get(f"/promotions?{query}").text
        assert {name for name in ("Offer c0", "Offer c1", "Offer c2") if name in text} == campaigns, query
    assert ends in page.get("/promotions/1").text
