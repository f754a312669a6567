"""Promotions on a page: their states, and what is held of them."""

from __future__ import annotations

import datetime as dt
import re
from html import unescape

import pyarrow as pa
import pytest

from shelfsync.catalog.ledger import vendors
from shelfsync.schemas import NAMES as SCHEMA

NAMES = re.compile(r'/promotions/\d+">([^<]*)</a>')
MORE = re.compile(r'href="/shelfsync/pages/promotions([^"]*)">The next rows')
MANY = """
WITH made AS (
    INSERT INTO ledger.promotion (identity, campaign, header, vendors, start_time, end_time, state, retry_at)
    SELECT 'many-' || n, 'c' || n, jsonb_build_object('display_name', jsonb_build_object('en_GB', 'Offer ' || n)), '{store-001}',
        now() - interval '1 day', now() + interval '1 day', 'sent', CASE WHEN n > 1198 THEN now() + interval '1 day' END
    FROM generate_series(1, 1200) AS n RETURNING *
)
INSERT INTO warehouse.promotion (promotion_id, campaign, name, display_name, type, reason, start_time, end_time, state)
SELECT promotion_id, campaign, header -> 'display_name' ->> 'en_GB', header -> 'display_name', 'STRIKETHROUGH', 'COMPETITIVENESS', start_time,
    end_time, state FROM made
"""
"""Promotions that run, the last two with a failed request."""


@pytest.mark.slow
def test_a_hold_on_the_page_can_be_approved_and_declined_later(shop, browse):
    page = browse(shop.world.app)
    assert "promotions_sync</code> reads the ERP" in page.get("/promotions").text
    shop.erp.put("deep", "a", "1", name="<b>Deep")
    shop.erp.put("fair", "b", "8")
    shop.sync()
    text = page.get("/promotions").text
    assert "Holds that wait for a decision" in text
    assert 'href="/shelfsync/pages/holds"' in text
    assert "Offer fair" in text
    listed = page.get("/holds").text
    assert "promotions" in listed
    assert "a at 1.00" in listed
    shown = page.get("/holds/1").text
    assert "FINAL_PRICE" not in shown
    assert re.search(r"<td>1\.00<td>2026-\d\d-\d\d \d\d:\d\d \w+ to 20\d\d-\d\d-\d\d \d\d:\d\d \w+<td", shown)
    assert "largest discount" in shown
    asked = page.post("/holds/1/approve").text
    assert "1 SKUs of 1 campaigns (deep)" in asked
    assert "price 10.00 -&gt; 1.00 (-90.0 %)" in asked
    mark = {"shown": re.search(r'name="shown" value="([0-9a-f]+)"', asked)[1]}
    answer = page.post("/holds/1/approve", data=mark, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/shelfsync/pages/holds/1")
    shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0}
    late = page.post("/holds/1/decline")
    assert (late.status_code, "approved by ada at " in late.text, "nothing was done" in late.text) == (409, True, True)
    shop.erp.put("deep", "a", "0.5", name="<b>Deep")
    shop.sync()
    page.post("/holds/2/decline", data={"reason": "too deep"})
    stale = page.post("/holds/2/approve", data=mark)
    assert (stale.status_code, "declined by ada at " in stale.text) == (409, True)
    text = page.get("/holds/2").text
    assert "too deep" in text
    assert "too late" in text
    assert "<b>" not in text, "what came from an ERP is text, never markup"
    assert page.post("/holds/2/reopen", data={"reason": ""}).status_code == 400
    page.post("/holds/2/reopen", data={"reason": "ask again"})
    page.post("/holds/2/decline")
    shop.erp.put("deep", "c", "8", name="<b>Deep")
    shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0, "c": 8.0}, "the platform keeps what it had"
    states = shop.rows("SELECT state, decided_by FROM ledger.hold ORDER BY hold_id")
    assert states == [("approved", "ada"), ("declined", "ada")]


@pytest.mark.slow
def test_a_user_who_may_only_look_decides_nothing(shop, browse):
    shop.erp.put("deep", "a", "1")
    shop.sync()
    page = browse(shop.world.app, may_decide=False)
    assert 'method="post"' not in page.get("/promotions").text
    assert page.post("/holds/1/approve").status_code == 403


@pytest.mark.slow
def test_many_holds_of_one_cause_are_one_question(shop, browse):
    for number, sku in enumerate("abcdab"):
        shop.erp.put(f"c{number}", sku, "1", start=48 * (number // 4), end=48 * (number // 4) + 24)
    summary = shop.sync()
    (line,) = [line for line in summary["lines"] if line.startswith("held")]
    assert line.startswith("held (discount): 6 campaigns, 6 SKUs (c0, c1, c2, c3, c4, …); ")
    path = shop.world.app.promotions
    (row,) = path.status()["held_by_rule"]
    assert (row["rule"], row["holds"], row["campaigns"], row["vendors"], row["rows"]) == ("discount", 6, 6, 1, 6)
    page = browse(shop.world.app)
    assert page.post("/holds/rules/discount/decline", data={"newest": "3"}, follow_redirects=False).status_code == 303
    assert [hold["campaign"] for hold in path.status()["held"]] == ["c3", "c4", "c5"], (
        "what was not shown is not decided"
    )
    assert path.decide_rule("discount", approve=True, by="ada") == 3
    assert page.post("/holds/rules/discount/approve", data={"newest": "9"}).status_code == 400, "no reason"
    late = page.post("/holds/rules/discount/approve", data={"newest": "9", "reason": "x"})
    assert late.status_code == 409
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
    context = shop.world.app.context
    path = context.lake.write_table(
        "names", "store-001", pa.table({"sku": ["a"], "name": ["Apple 1 kg"]}, schema=SCHEMA)
    )
    with context.engine.begin() as connection:
        vendors.name_products(connection, "store-001", path)
    page = browse(shop.world.app)
    text = page.get("/promotions/1").text
    assert re.search(r">store-\d+<td[^>]*><a [^>]*>a</a><td>Apple 1 kg<td[^>]*>[^<]*discounted", text), (
        "a rejected pair has its name"
    )
    assert "SKU a (Apple 1 kg) at store-001" in text
    stores = [f'<a href="/shelfsync/pages/store?vendor=store-00{number}">store-00{number}</a>' for number in (1, 2, 3)]
    for part in (
        f"<p>3 stores: {', '.join(stores)}.</p>",
        "/search/stores?sku=a",
        "completed",
        "invalid discounted SKU",
        "base price not above",
    ):
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
def test_the_page_shows_some_promotions_alone_and_times_in_the_zone_of_the_chain(make_shop, browse):
    shop = make_shop(time_zone="Asia/Kathmandu")
    for number, sku in enumerate(("a", "stranger", "b")):
        shop.erp.put(f"c{number}", sku, "8", start=number, end=9, base_price="10")
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


@pytest.mark.slow
def test_the_page_shows_the_promotions_of_a_vendor_a_campaign_or_a_sku(shop, browse):
    shop.erp.put("spring-1", "a", "8", name="Frühling")
    shop.erp.put("spring-10", "b", "8", vendor="store-002", name="Autumn")
    shop.erp.put("other", "stranger", "8", vendor="store-003", name="Other", start=1, base_price="10")
    shop.erp.put("other", "c", "8", vendor="store-003", name="Other", start=1)
    shop.sync()
    page = browse(shop.world.app)
    for query, names in {
        "vendor=store-002": {"Autumn"},
        "vendor=store-00": set(),
        "campaign=SPRING": {"Frühling", "Autumn"},
        "campaign=fr%C3%BChl": {"Frühling"},
        "campaign=%25": set(),
        "sku=b": {"Autumn"},
        "sku=stranger": {"Other"},
        "sku=c&vendor=store-001": set(),
        "vendor=&campaign=&sku=": {"Frühling", "Autumn", "Other"},
    }.items():
        text = page.get(f"/promotions?{query}").text
        assert {name for name in ("Frühling", "Autumn", "Other") if f">{name}</a>" in text} == names, query
    assert 'name="sku" maxlength="255" value="b"' in page.get("/promotions?sku=b").text


def test_a_page_has_some_of_many_promotions_and_leads_to_the_others(world, browse):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(MANY)
    page = browse(world.app)
    text = page.get("/promotions").text
    names = NAMES.findall(text)
    assert (len(names), names[:2]) == (200, ["Offer 1199", "Offer 1200"]), "problems come first"
    seen, query = set(names), MORE.search(text)
    while query:
        text = page.get(f"/promotions{unescape(query[1])}").text
        seen, query = seen | set(NAMES.findall(text)), MORE.search(text)
    assert seen == {f"Offer {number}" for number in range(1, 1201)}
    more = MORE.search(page.get("/promotions?vendor=store-001&state=running&order=campaign").text)
    assert unescape(more[1]).startswith("?state=running&vendor=store-001&order=campaign&after=")
    assert NAMES.findall(page.get("/promotions?problems=true").text) == ["Offer 1199", "Offer 1200"]
    lines = page.get("/promotions.csv?problems=true").text.splitlines()
    assert [line.split(",")[:4] for line in lines[1:]] == [
        [lines[n].split(",")[0], "running", f"c{1198 + n}", f"Offer {1198 + n}"] for n in (1, 2)
    ]
    for name in ("state", "vendor", "campaign", "sku"):
        assert page.get("/promotions", params={name: "x" * 5_000}).status_code == 400


def test_a_promotion_of_all_stores_says_so_and_asks_for_the_store_of_a_product(shop, browse):
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(MANY)
        connection.exec_driver_sql("UPDATE ledger.promotion SET vendors = '{*}' WHERE promotion_id = 1")
        connection.exec_driver_sql(
            "INSERT INTO warehouse.promotion_sku (promotion_id, sku, subtype, value, known) VALUES (1, 'a', 'FINAL_PRICE', 1, true)"
        )
    text = browse(shop.world.app).get("/promotions/1").text
    assert "All stores." in text
    assert 'href="/shelfsync/pages/search/stores?sku=a"' in text
    assert "vendor=%2A" not in text
