"""The explanation of a SKU with promotions, as an operator reads it."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal

import pytest

from shelfsync.explain.explain import _is_sold_out, paid_sentence
from shelfsync.explain.explanation import Shown, Values, sentence
from shelfsync.promotions.warehouse.customer_price import CustomerPrice, customer_price


@pytest.mark.slow
def test_a_running_promotion_is_explained_after_the_catalogs_values(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    found = shop.world.app.explain("store-001", "a")
    assert found.sentence.startswith("The platform acknowledged 10.00 at")
    end = f"{shop.erp.now + dt.timedelta(days=1):%Y-%m-%d %H:%M:%S} UTC"
    seen_by = f"{found.paid.seen_by:%H:%M:%S} UTC"
    assert re.search(
        rf"Customers pay 8.00 from ([0-9-]+ )?{seen_by} at the latest until {end}, because", found.sentence
    )
    assert "because promotion Offer c1 (campaign c1)" in found.sentence
    assert "Before that, the app may still show another price" in found.sentence
    assert any("final price 8.00; the platform accepted it (COMPLETED)" in event.message for event in found.events)
    assert "Customers pay" not in shop.world.app.explain("store-001", "b").sentence
    json.dumps(found.as_dict(), default=str)
    shop.erp.drop("c1")
    shop.sync()
    found = shop.world.app.explain("store-001", "a")
    assert re.search("Customers pay 10.00 from .* at the latest, because no promotion covers it", found.sentence)
    assert any("removed; the platform accepted it" in event.message for event in found.events)


@pytest.mark.slow
def test_the_time_by_which_customers_see_a_promotion_is_no_earlier_than_the_platforms(shop):
    shop.world.platform.control("PUT", "settings", {"promotion_propagation_s": 3000.0})
    shop.erp.put("c1", "a", "8")
    shop.sync()
    found = shop.world.app.explain("store-001", "a")
    assert shop.seen() == {}, "the portal shows it later"
    assert dt.timedelta(minutes=49) < found.paid.seen_by - found.at <= dt.timedelta(minutes=50)
    then = customer_price(shop.world.app.context.engine, "store-001", "a", found.paid.seen_by)
    assert then.seen_by is None
    assert paid_sentence(then, found.paid.seen_by).startswith("Customers pay 8.00 until")


@pytest.mark.slow
def test_a_new_base_price_has_the_time_by_which_customers_see_it(shop):
    found = shop.world.app.explain("store-001", "b")
    assert found.acknowledged.seen_by - found.acknowledged.since == dt.timedelta(seconds=1800)
    assert f"Customers see it by {found.acknowledged.seen_by:%H:%M:%S} UTC at the latest" in re.sub(
        r"\d{4}-\d\d-\d\d ", "", found.sentence
    )
    later = sentence(
        acknowledged=found.acknowledged, observed=None, desired=None, waits_for=(), now=found.acknowledged.seen_by
    )
    assert later.startswith("The platform acknowledged ")
    assert f"Customers see it since {found.acknowledged.seen_by:%H:%M:%S} UTC at the latest." in later


@pytest.mark.slow
def test_a_waiting_promotion_is_explained_by_its_reason(shop):
    shop.erp.put("deep", "a", "1")
    shop.erp.put("wrong", "b", "8,5")
    shop.erp.put("wrong", "c", "8", vendor="store-404", base_price="10")
    shop.erp.put("right", "c", "8")
    path = shop.world.app.promotions
    shop.sync()
    explain = shop.world.app.explain
    (held,) = explain("store-001", "a").promotions_wait
    assert held.startswith("its campaign waits until an operator approves hold 1 ")
    assert "The guard discount holds it: campaign deep" in held
    (quarantined,) = explain("store-001", "b").promotions_wait
    assert 'price "8,5" has a comma' in quarantined
    assert explain("store-001", "c").promotions_wait == ()
    shop.erp.put("right", "c", "7")
    run = path.open_run("under way")
    path.extract(run)
    path.plan(run)
    (under_way,) = explain("store-001", "c").promotions_wait
    assert "is in flight: job" in under_way


@pytest.mark.parametrize("active", [True, False, None])
@pytest.mark.parametrize("sold_out", [True, False])
@pytest.mark.parametrize("price", [Decimal("2.49"), None])
def test_a_sentence_never_says_that_customers_pay_for_what_they_cannot_buy(active, sold_out, price):
    found = CustomerPrice("store-001", "a", price, price, active, "no promotion covers it")
    text = paid_sentence(found, dt.datetime(2026, 3, 2, tzinfo=dt.UTC), sold_out=sold_out)
    can_buy = active is not False and not sold_out
    assert text.startswith("Customers cannot buy it, because") is not can_buy
    assert ("Customers pay 2.49" in text) is (can_buy and price is not None)
    assert ("2.49" in text) is (price is not None)


@pytest.mark.parametrize(
    ("quantity", "newer_active", "sold_out"),
    [(0, None, True), (0, False, True), (0, True, False), (1, None, False), (None, None, False)],
)
def test_a_product_is_sold_out_until_a_newer_observation_shows_it_on_sale(quantity, newer_active, sold_out):
    at = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
    accepted = Shown(Values(price=Decimal(1), quantity=quantity, active=True, max_sales_quantity=None), at, "a job")
    later = at + dt.timedelta(hours=1)
    seen = None
    if newer_active is not None:
        values = Values(price=Decimal(1), quantity=None, active=newer_active, max_sales_quantity=None)
        seen = Shown(values, later, "an export")
    assert _is_sold_out(accepted, seen) is sold_out
    assert _is_sold_out(None, seen) is False
