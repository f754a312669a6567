"""A chain's campaigns with the frequencies of real ones, day by day: the platform has exactly what the rules say, pair by pair."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import time
from collections import Counter

import pytest

from partner_api.errors import UnavailableError
from promotion_feed import SQL, Feed, NaiveModel, on_platform
from promotion_shop import STORES
from shelfsync.errors import TryAgainError

CAMPAIGNS = int(os.environ.get("FEED_CAMPAIGNS", "300"))
"""A chain of three supermarkets has 6,000, which takes most of an hour: `make test-slow ARGS="-s -k rules_say"`."""
FAULTS = (
    {"at": "put_promotion", "kind": "status_500", "times": 3},
    {"at": "put_promotion", "kind": "drop_answer", "times": 2},
    {"at": "promotion_status", "kind": "status_503", "times": 2},
    {"at": "job", "kind": "failed", "times": 3},
)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_platform_shows_what_the_rules_say_through_changes_faults_and_ends(make_world, erp, platform):
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    feed = Feed(20261124, CAMPAIGNS, now, STORES)
    world = _open(make_world, platform, feed, erp)
    model = NaiveModel(feed)
    for day in range(3):
        if day:
            feed.change()
        feed.write(erp.file)
        if day == 1:
            platform.faults(*FAULTS)
        _until_it_sends_nothing(world)
        expected, found = Counter(model.pairs()), Counter(on_platform(platform, now))
        assert len(expected) > CAMPAIGNS // 2, "the feed has little that can be sent"
        assert found == expected, _difference(found, expected)
        assert model.held == _held(world)
    puts, began_cpu_s = _puts(world), time.process_time()
    assert _sync(world, "again")["counts"]["requests"] == 0
    again_cpu_s = time.process_time() - began_cpu_s
    assert _puts(world) == puts, "a run without changes sends nothing"
    print(f"{len(found):,} pairs, {puts:,} requests, a run without changes: {again_cpu_s:.1f} CPU s")


def _open(make_world, platform, feed, erp):
    promotions = {"sql": SQL, "values": "spec", "poll_first_s": 0.05, "poll_max_s": 0.2}
    world = make_world(promotions=promotions)
    platform.control("PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0})
    for vendor in STORES:
        prices = {sku: float(price) for (of, sku), price in feed.prices.items() if of == vendor}
        products = [{"sku": sku, "title": sku, "price": price, "active": True} for sku, price in prices.items()]
        platform.put_products(vendor, products)
    feed.write_catalog(erp.file)
    assert world.sync("full")["state"] == "succeeded"
    return world


def _sync(world, key):
    path = world.app.promotions
    return path.sync(path.open_run(key, dry_run=False))


def _until_it_sends_nothing(world):
    """Hourly runs; what failed waits ten minutes in between."""
    for _ in range(6):
        (runs,) = world.rows("SELECT count(*) FROM ledger.promotion_run")[0]
        with contextlib.suppress(UnavailableError, TryAgainError):
            if not _sync(world, f"feed/{runs}")["counts"]["requests"]:
                return
        with world.app.context.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE ledger.promotion SET retry_at = NULL")
    pytest.fail("after six runs there is still something to send")


def _puts(world):
    return world.rows("SELECT count(*) FROM ledger.job WHERE kind = 'promotion' AND attempts > 0")[0][0]


def _held(world):
    return world.rows(
        "SELECT coalesce(sum(skus), 0) FROM ledger.promotion_hold WHERE state = 'held' AND rule = 'discount'"
    )[0][0]


def _difference(found, expected):
    return f"too much: {list(found - expected)[:5]}; missing: {list(expected - found)[:5]}; {len(found)} of {len(expected)}"
