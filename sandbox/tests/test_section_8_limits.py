"""interface.md 8: limits; field notes for what is answered beyond them."""

from __future__ import annotations

import datetime as dt
import random

import pytest

from partner_sandbox.request_limit import Limiter
from partner_sandbox.settings import behaviour_of

STORE = "store-001"
CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"
ALLOWED = {"requests_per_minute": 60}


@pytest.mark.slow
def test_no_more_than_60_requests_a_minute_unless_set_otherwise(platform, partner):
    assert behaviour_of("spec").requests_per_minute == 60
    platform.advance(60)
    platform.control("PUT", "settings", ALLOWED)
    answers = [partner.get(CATALOG).status_code for _ in range(61)]
    assert answers == [200] * 60 + [429]


@pytest.mark.slow
def test_the_window_slides(platform, partner):
    platform.advance(60)
    platform.control("PUT", "settings", ALLOWED)
    for _ in range(30):
        partner.get(CATALOG)
    platform.advance(30)
    for _ in range(30):
        partner.get(CATALOG)
    assert partner.get(CATALOG).headers["Retry-After"] == "30"
    platform.advance(29.999)
    assert partner.get(CATALOG).status_code == 429
    platform.advance(0.001)
    assert [partner.get(CATALOG).status_code for _ in range(31)] == [200] * 30 + [429]


def test_every_call_counts_the_token_too_and_the_control_plane_does_not(platform):
    platform.control("PUT", "settings", {"requests_per_minute": 3})
    for _ in range(10):
        platform.control("GET", "state")
    with platform.partner() as partner:
        answers = [
            partner.get("/v2/nowhere").status_code,
            partner.get(CATALOG).status_code,
            partner.get(CATALOG).status_code,
        ]
    assert answers == [404, 200, 429]


@pytest.mark.parametrize(
    ("answer_kind", "status", "header"), [("429_retry_after", 429, True), ("429", 429, False), ("403_html", 403, False)]
)
def test_beyond_the_limit_the_answer_is_as_configured(platform, partner, answer_kind, status, header):
    platform.control("PUT", "settings", {"requests_per_minute": 1, "rate_limit_answer": answer_kind})
    answer = partner.get(CATALOG)
    assert answer.status_code == status
    assert ("Retry-After" in answer.headers) is header
    assert answer.headers["content-type"].startswith("text/html" if status == 403 else "application/json")


@pytest.mark.parametrize(("key", "second"), [("address", 429), ("token", 200), ("chain", 429)])
def test_requests_are_counted_by_address_token_or_chain(platform, partner, key, second):
    platform.control("PUT", "settings", {"rate_key": key})
    with platform.partner() as same_chain:
        platform.advance(60)
        platform.control("PUT", "settings", {"requests_per_minute": 1})
        assert partner.get(CATALOG).status_code == 200
        assert partner.get(CATALOG).status_code == 429
        assert same_chain.get(CATALOG).status_code == second


def test_the_journal_reports_the_highest_number_in_any_60_seconds(platform, partner):
    platform.advance(100)
    for _ in range(7):
        partner.get(CATALOG)
    platform.advance(59.999)
    partner.get(CATALOG)
    platform.advance(60)
    partner.get(CATALOG)
    assert platform.journal()["max_requests_in_60s"] == 8


def test_law_a_limiter_admits_exactly_the_allowed_requests_in_any_window():
    chance = random.Random(7)
    limiter, limit = Limiter(), 20
    admitted: list[int] = []
    now_us = 0
    for _ in range(5000):
        now_us += chance.choice([0, 1, 1_000_000, 5_000_000])
        wait_us = limiter.admit("key", limit, now_us)
        within = [at for at in admitted if at > now_us - 60_000_000]
        assert (wait_us is None) is (len(within) < limit)
        if wait_us is None:
            admitted.append(now_us)
        else:
            assert sorted(within)[-limit] + 60_000_000 == now_us + wait_us


def test_a_request_may_have_100_mb():
    assert behaviour_of("spec").body_max_bytes == 100 * 1024 * 1024


def test_a_change_reaches_the_app_after_15_minutes(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "max_sales_quantity": 2}])
    push({"sku": "A", "price": 3, "active": False, "maximum_sales_quantity": 4})
    platform.advance(899.999)
    product = platform.products(STORE)["A"]
    assert product["price"] == 3
    assert {"price": 1, "active": True, "max_sales_quantity": 2}.items() <= product["app"].items()
    platform.advance(0.001)
    seen_by_customers = platform.products(STORE)["A"]["app"]
    assert {"price": 3, "active": False, "max_sales_quantity": 4}.items() <= seen_by_customers.items()


def test_changes_reach_the_app_in_their_order_each_after_its_own_15_minutes(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    for price in (2, 3, 1):
        push({"sku": "A", "price": price})
        platform.advance(300)
    seen = []
    for _ in range(4):
        seen.append(platform.products(STORE)["A"]["app"]["price"])
        platform.advance(300)
    assert seen == [2, 3, 1, 1]


def test_the_clock_of_the_state_is_iso_8601_in_utc(platform):
    before = dt.datetime.fromisoformat(platform.control("GET", "state")["now"])
    assert platform.advance(1.5).endswith("Z")
    after = dt.datetime.fromisoformat(platform.control("GET", "state")["now"])
    assert abs((after - before).total_seconds() - 1.5) < 0.001
    assert after.tzinfo is not None
