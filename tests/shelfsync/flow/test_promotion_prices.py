"""What a customer pays and why: from what the platform took of each promotion, at any instant; and nothing that nobody knows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from promotion_erp import HOUR
from shelfsync.warehouse.customer_price import customer_price


def paid(shop, vendor="store-001", at=None):
    return customer_price(shop.world.house.parts.engine, vendor, "a", at or dt.datetime.now(dt.UTC))


def test_what_a_customer_pays_is_told_with_the_reason_and_its_end(shop):
    before = dt.datetime.now(dt.UTC)
    shop.erp.put("c1", "a", "8", start=-2, end=4)
    shop.erp.put("c2", "a", "6", start=-1, end=1, overlap="1")
    shop.erp.put("c3", "a", "5", start=2, end=3, overlap="1")
    shop.sync()
    now = paid(shop)
    assert (now.price, now.base_price, now.until) == (Decimal(6), Decimal(10), shop.erp.now + HOUR)
    assert now.why.startswith("promotion Offer c2 (campaign c2) from")
    assert "promotion Offer c1 (campaign c1)" in now.why.split("gives way")[0]
    assert [row["campaign"] for row in now.promotions] == ["c3", "c2", "c1"]
    later = paid(shop, at=shop.erp.now + 1.5 * HOUR)
    assert (later.price, later.until) == (Decimal(8), shop.erp.now + 2 * HOUR)
    assert paid(shop, at=shop.erp.now + 2.5 * HOUR).price == Decimal(5)
    assert paid(shop, at=shop.erp.now + 9 * HOUR).price == Decimal(10)
    assert paid(shop, "store-002").why.startswith("no promotion covers it")
    assert paid(shop, at=before).price == Decimal(10), "nothing had been acknowledged by then"
    for campaign in ("c1", "c2"):
        shop.erp.drop(campaign)
    shop.sync()
    shop.world.house.promotions.decide("*", rule=None, release=True, by="anna")
    shop.sync()
    assert paid(shop).price == Decimal(10)
    assert paid(shop, at=now.promotions[1]["since"]).price == Decimal(6), "the past is told as it was"


def test_a_promotion_that_is_sent_again_unchanged_is_no_news_to_customers(shop):
    shop.erp.put("c1", "a", "8", start=-2, end=4)
    shop.sync()
    first = paid(shop)
    assert first.seen_by - first.promotions[0]["since"] == dt.timedelta(seconds=3000)
    shop.erp.put("c1", "b", "7", start=-2, end=4)
    shop.sync()
    assert paid(shop).seen_by == first.seen_by


def test_a_price_that_one_vendor_refused_leaves_there_what_it_took_before(shop):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.sync()
    shop.world.platform.put_products("store-002", [{"sku": "a", "title": "a", "price": 8.5, "active": True}])
    shop.erp.put("c1", "a", "9", vendor=None)
    assert shop.sync()["pairs"] == {"sent": 3, "accepted": 2, "refused": 1, "unaccounted": 0}
    assert [paid(shop, vendor).price for vendor in ("store-001", "store-002")] == [Decimal(9), Decimal(8)]
    assert "invalid discounted SKU, and what it took before stands" in paid(shop, "store-002").why
    assert shop.seen("store-002") == {"a": 8.0}


def test_a_promotion_that_nobody_confirmed_is_told_as_unknown_and_never_as_none(make_shop):
    shop = make_shop(promotions={"job_deadline_s": 0.5})
    shop.erp.put("c1", "a", "8")
    shop.world.platform.faults({"at": "promotion_status", "kind": "unknown_status", "times": 99})
    shop.sync()
    told = paid(shop)
    assert told.price == Decimal(10)
    assert "nobody knows whether promotion Offer c1" in told.why
    assert [row["known"] for row in told.promotions] == [False]
