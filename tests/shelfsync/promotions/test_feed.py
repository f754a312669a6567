"""A chain's campaigns with the frequencies of real ones, day by day: the platform has exactly what the rules give, pair by pair."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import time
from functools import partial

import pytest

from partner_api.errors import UnavailableError
from promotion_feed import HELD, SQL, Feed, NaiveModel, differences, on_platform, products
from promotion_shop import STORES
from shelfsync.errors import TryAgainError

pytestmark = pytest.mark.slow

CAMPAIGNS = int(os.environ.get("FEED_CAMPAIGNS", "50"))
"""A chain of three supermarkets has 6,000, which takes some 15 minutes of CPU: `FEED_CAMPAIGNS=6000 make test-slow ARGS="-s -k rules_give"`."""
FAULTS = (
    {"at": "put_promotion", "kind": "status_500", "times": 3},
    {"at": "put_promotion", "kind": "drop_answer", "times": 2},
    {"at": "promotion_status", "kind": "status_503", "times": 2},
    {"at": "job", "kind": "failed", "times": 3},
)


@pytest.mark.timeout(7200)
def test_the_platform_shows_what_the_rules_give_through_changes_faults_and_ends(make_world, erp, platform):
    feed = Feed(20261124, CAMPAIGNS, dt.datetime.now(dt.UTC).replace(microsecond=0), STORES)
    world = _open(make_world, platform, feed, erp)
    model = NaiveModel(feed)
    for day in ("begin", "change", "change", "end"):
        if day == "change":
            feed.change()
        if day == "end":
            _runs_without_changes_send_nothing(world)
            feed.end()
        feed.write(erp.file)
        if day == "change":
            platform.faults(*FAULTS)
        _until_it_sends_nothing(world)
        expected, found = model.pairs(), on_platform(partial(platform.control, "GET"))
        assert len(expected) > CAMPAIGNS // 2 or day == "end", "the feed has little that can be sent"
        assert differences(found, expected) == ""
        assert model.held == sum(row.skus for row in world.rows(HELD))
        print(
            f"{day}: {len(found):,} pairs, {_puts(world):,} requests, {time.process_time():.0f} CPU s so far",
            flush=True,
        )


def _runs_without_changes_send_nothing(world):
    puts, began_cpu_s = _puts(world), time.process_time()
    assert _sync(world, "again")["counts"]["requests"] == 0
    print(f"a run without changes: {time.process_time() - began_cpu_s:.1f} CPU s", flush=True)
    assert _puts(world) == puts


def _open(make_world, platform, feed, erp):
    promotions = {"sql": SQL, "values": "spec", "poll_first_s": 0.05, "poll_max_s": 0.2}
    world = make_world(promotions=promotions)
    platform.control("PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0})
    for vendor in STORES:
        platform.put_products(vendor, products(feed, vendor))
    feed.write_catalog(erp.file)
    assert world.sync("full")["state"] == "succeeded"
    return world


def _sync(world, key):
    path = world.app.promotions
    return path.sync(path.open_run(key, dry_run=False))


def _until_it_sends_nothing(world):
    """Hourly runs; what failed waits ten minutes in between, and a person approves that most promotions end."""
    for _ in range(6):
        (runs,) = world.rows("SELECT count(*) FROM ledger.promotion_run")[0]
        with contextlib.suppress(UnavailableError, TryAgainError):
            counts = _sync(world, f"feed/{runs}")["counts"]
            if not world.app.promotions.decide_rule("ended", approve=True, by="ada") and not counts["requests"]:
                return
        with world.app.context.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE ledger.promotion SET retry_at = NULL")
    pytest.fail("after six runs there is still something to send")


def _puts(world):
    return world.rows("SELECT count(*) FROM ledger.job WHERE kind = 'promotion' AND attempts > 0")[0][0]
