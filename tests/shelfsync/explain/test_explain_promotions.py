"""A SKU with promotions, as the person on call asks for it."""

from __future__ import annotations

import datetime as dt
import json
import re

from shelfsync.explain import promotions
from shelfsync.warehouse.customer_price import customer_price


def test_a_running_promotion_is_told_behind_what_the_catalog_shows(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    told = shop.world.house.explain("store-001", "a")
    assert told.sentence.startswith("It shows 10.00 since")
    end = f"{shop.erp.now + dt.timedelta(days=1):%Y-%m-%d %H:%M:%S}"
    seen_by = f"{told.paid.seen_by:%H:%M:%S}"
    assert re.search(rf"Customers pay 8.00 from ([0-9-]+ )?{seen_by} at the latest until {end}, because", told.sentence)
    assert "because promotion Offer c1 (campaign c1)" in told.sentence
    assert "before that the app may still show another price" in told.sentence
    assert any("final price 8.00; the platform took it (COMPLETED)" in event.said for event in told.events)
    assert "Customers pay" not in shop.world.house.explain("store-001", "b").sentence
    json.dumps(told.as_dict(), default=str)
    shop.erp.drop("c1")
    shop.sync()
    told = shop.world.house.explain("store-001", "a")
    assert re.search("Customers pay 10.00 from .* at the latest, because no promotion covers it", told.sentence)
    assert any("taken out; the platform took it" in event.said for event in told.events)


def test_customers_are_said_to_see_a_promotion_no_later_than_the_platform_shows_it(shop):
    shop.world.platform.control("PUT", "settings", {"promotion_propagation_s": 3000.0})
    shop.erp.put("c1", "a", "8")
    shop.sync()
    told = shop.world.house.explain("store-001", "a")
    assert shop.seen() == {}, "the portal shows it later"
    assert dt.timedelta(minutes=49) < told.paid.seen_by - told.at <= dt.timedelta(minutes=50)
    then = customer_price(shop.world.house.parts.engine, "store-001", "a", told.paid.seen_by)
    assert then.seen_by is None
    assert promotions.sentence(then, told.paid.seen_by).startswith("Customers pay 8.00 until")


def test_a_new_base_price_is_told_with_the_time_by_which_customers_see_it(shop):
    told = shop.world.house.explain("store-001", "b")
    assert told.acknowledged.seen_by - told.acknowledged.since == dt.timedelta(seconds=1800)
    assert f"customers see it by {told.acknowledged.seen_by:%H:%M:%S} at the latest" in re.sub(
        r"\d{4}-\d\d-\d\d ", "", told.sentence
    )


def test_why_a_promotion_of_the_erp_is_not_what_customers_see_is_told(shop):
    shop.erp.put("deep", "a", "1")
    shop.erp.put("wrong", "b", "8,5")
    shop.erp.put("wrong", "c", "8", vendor="store-404")
    shop.erp.put("right", "c", "8")
    path = shop.world.house.promotions
    shop.sync()
    explain = shop.world.house.explain
    (held,) = explain("store-001", "a").promotions_wait
    assert "campaign deep is held in part at this vendor (discount)" in held
    (aside,) = explain("store-001", "b").promotions_wait
    assert 'price "8,5" has a comma' in aside
    assert explain("store-001", "c").promotions_wait == ()
    shop.erp.put("right", "c", "7")
    run = path.open_run("under way")
    path.extract(run)
    path.plan(run)
    (under_way,) = explain("store-001", "c").promotions_wait
    assert "is on its way: job" in under_way
