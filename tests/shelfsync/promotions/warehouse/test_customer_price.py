"""The price that a customer pays and its reason, at any instant, from the accepted promotions; an unknown price is reported as unknown."""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal

import pytest

from promotion_erp import HOUR
from promotion_shop import SKUS, STORES
from shelfsync.promotions.warehouse.customer_price import customer_price

_keys = itertools.count(1)


def paid(shop, vendor="store-001", at=None):
    return customer_price(shop.world.app.context.engine, vendor, "a", at or dt.datetime.now(dt.UTC))


@pytest.mark.slow
def test_the_price_a_customer_pays_is_reported_with_its_reason_and_its_end(shop):
    before = dt.datetime.now(dt.UTC)
    shop.erp.put("c1", "a", "8", start=-2, end=4)
    shop.erp.put("c2", "a", "6", start=-1, end=1, overlap="1")
    shop.erp.put("c3", "a", "5", start=2, end=3, overlap="1")
    shop.sync()
    now = paid(shop)
    assert (now.price, now.base_price, now.until) == (Decimal(6), Decimal(10), shop.erp.now + HOUR)
    assert now.reason.startswith("promotion Offer c2 (campaign c2) from")
    assert "promotion Offer c1 (campaign c1)" in now.reason.split("does not apply")[0]
    assert [row["campaign"] for row in now.promotions] == ["c3", "c2", "c1"]
    later = paid(shop, at=shop.erp.now + 1.5 * HOUR)
    assert (later.price, later.until) == (Decimal(8), shop.erp.now + 2 * HOUR)
    assert paid(shop, at=shop.erp.now + 2.5 * HOUR).price == Decimal(5)
    assert paid(shop, at=shop.erp.now + 9 * HOUR).price == Decimal(10)
    assert paid(shop, "store-002").reason.startswith("no promotion covers it")
    assert paid(shop, at=before).price == Decimal(10), "nothing had been acknowledged by then"
    for campaign in ("c1", "c2"):
        shop.erp.drop(campaign)
    shop.sync()
    shop.world.app.promotions.decide("*", rule=None, approve=True, by="anna")
    shop.sync()
    assert paid(shop).price == Decimal(10)
    assert paid(shop, at=now.promotions[1]["since"]).price == Decimal(6), "the past is reported as it was"


@pytest.mark.slow
def test_a_promotion_that_is_sent_again_unchanged_is_no_news_to_customers(shop):
    shop.erp.put("c1", "a", "8", start=-2, end=4)
    shop.sync()
    first = paid(shop)
    assert first.seen_by - first.promotions[0]["since"] == dt.timedelta(seconds=3000)
    shop.erp.put("c1", "b", "7", start=-2, end=4)
    shop.sync()
    assert paid(shop).seen_by == first.seen_by


@pytest.mark.slow
def test_a_price_that_one_vendor_rejected_leaves_the_earlier_price_there(shop):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.sync()
    shop.world.platform.put_products("store-002", [{"sku": "a", "title": "a", "price": 8.5, "active": True}])
    shop.erp.put("c1", "a", "9", vendor=None)
    assert shop.sync()["pairs"] == {"sent": 3, "accepted": 2, "rejected": 1, "unaccounted": 0}
    assert [paid(shop, vendor).price for vendor in ("store-001", "store-002")] == [Decimal(9), Decimal(8)]
    assert "invalid discounted SKU, and the values accepted before stay" in paid(shop, "store-002").reason
    assert shop.seen("store-002") == {"a": 8.0}


@pytest.mark.slow
def test_an_unconfirmed_promotion_is_reported_as_unknown_and_never_as_none(make_shop):
    shop = make_shop(promotions={"job_deadline_s": 0.5})
    shop.erp.put("c1", "a", "8")
    shop.world.platform.faults({"at": "promotion_status", "kind": "unknown_status", "times": 99})
    shop.sync()
    price = paid(shop)
    assert price.price == Decimal(10)
    assert "is unconfirmed, because job" in price.reason
    assert [row["known"] for row in price.promotions] == [False]


@pytest.mark.slow
def test_a_price_that_changed_after_the_last_export_is_no_finding_of_an_ended_promotion(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    with shop.world.app.context.engine.begin() as connection:
        hours_ago = "start_time = now() - interval '3 hours', end_time = now() - interval '2 hours'"
        for schema in ("ledger", "warehouse"):
            connection.exec_driver_sql(f"UPDATE {schema}.promotion SET {hours_ago}")
    shop.erp.drop("c1")
    _export(shop)
    shop.world.erp.put("store-001", "a", "12.00")
    shop.world.sync()
    assert shop.sync()["findings"] == {}
    products = [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in SKUS]
    shop.world.platform.put_products("store-001", products)
    _export(shop)
    assert shop.sync()["findings"] == {"price_after_end": 1}
    assert "shows 9.00; acknowledged is 12.00" in shop.rows("SELECT message FROM warehouse.promotion_finding")[0][0]


def _export(shop):
    shop.world.app.export(f"prices/{next(_keys)}", STORES[:1], progress=lambda *_: None)
