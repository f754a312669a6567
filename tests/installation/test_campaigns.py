"""A chain's campaigns in a whole installation: planned by the command, sent by the DAG, changed and ended, each time compared pair by pair.

The campaigns and the model of the rules are those of `promotion_feed`. FEED_CAMPAIGNS makes them more, and the test longer.
"""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from installation import shelf
from installation.installed import PROJECT
from installation.state import IN_CAMPAIGNS, Chain
from promotion_feed import COLUMNS, HELD, Feed, NaiveModel, differences, on_platform

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from pathlib import Path

    from installation.installed import Installation

pytestmark = pytest.mark.slow

CAMPAIGNS = int(os.environ.get("FEED_CAMPAIGNS", "120"))
STORES = ("store-001", "store-002", "store-003")
"""Campaigns of all stores run in the other stores too, where nothing is compared."""
REQUESTS_PER_MINUTE = 3000
"""Of the platform and of shelfsync during the test: at 60 a minute it would wait for most of its time."""
FAULTS = ({"at": "put_promotion", "kind": "drop_answer", "times": 1}, {"at": "promotion_status", "kind": "status_503", "times": 2})  # fmt: skip

PRICES = """
SELECT vendor, sku, price FROM warehouse.baseline
WHERE vendor = ANY(%(stores)s) AND active AND price BETWEEN 1 AND 40 AND sku ~ '^[0-9]+$' ORDER BY sku, vendor
"""
TABLE = f"CREATE TABLE IF NOT EXISTS erp.feed ({', '.join(f'{name} text' for name in COLUMNS)})"
ROWS = "INSERT INTO erp.feed SELECT * FROM jsonb_populate_recordset(NULL::erp.feed, CAST(%(rows)s AS jsonb))"
BOTH = """
WITH sample AS ({sample})
SELECT campaign, vendor, sku, price, CAST(NULL AS text) AS discount_type, name, start_time, end_time, CAST(NULL AS text) AS type,
    CAST(NULL AS integer) AS purchased_quantity, CAST(NULL AS integer) AS discounted_quantity, CAST(NULL AS integer) AS pieces,
    audience, condition FROM sample
UNION ALL
SELECT campaign, vendor, sku, CAST(price AS numeric), discount_type, name, CAST(start_time AS timestamptz), CAST(end_time AS timestamptz), type,
    CAST(purchased_quantity AS integer), CAST(discounted_quantity AS integer), CAST(pieces AS integer), audience, condition FROM erp.feed
"""
"""The source of promotions during the test: those of the sample, and those of the feed."""


def test_a_chains_campaigns_are_planned_sent_changed_and_ended_pair_by_pair(
    installation: Installation, tmp_path: Path
) -> None:
    chain = Chain(installation, tmp_path)
    feed = Feed(18, CAMPAIGNS, dt.datetime.now(dt.UTC).replace(microsecond=0), STORES, prices=_prices(installation))
    model = NaiveModel(feed)
    with _source(installation, tmp_path):
        with installation.switched_off("promotions_sync"):
            _write(installation, feed)
            before = shelf.journal_end(installation)
            planned = chain.document("promotions", "plan")
            assert shelf.sent_since(installation, before, "put_promotion") == []
        assert planned["counts"]["created"] > CAMPAIGNS // 3
        assert {"club_only", "coupon", "minimum_purchase", "mix"} <= planned["reasons"].keys(), planned["reasons"]
        _compare(installation, feed, model)
        assert len(model.shown) > CAMPAIGNS // 2

        feed.change()
        _write(installation, feed)
        with installation.faults(*FAULTS):
            _compare(installation, feed, model)
        before = shelf.journal_end(installation)
        installation.run("promotions_sync")
        assert shelf.sent_since(installation, before, "put_promotion") == []

        feed.end()
        _write(installation, feed)
        installation.run("promotions_sync")
        assert len(_shown(installation, feed)) > len(feed.rows), "so many ends at once are held"
        assert chain.document("holds", "approve", "--rule", "ended", "--yes", "--reason", "over")["holds"]
        _compare(installation, feed, model)


def _prices(installation: Installation) -> dict[tuple[str, str], Decimal]:
    """Acknowledged prices of products that each store has, that no campaign of the sample has, and that no other test touches."""
    promoted = {row["item_code"] for row in installation.erp(IN_CAMPAIGNS)}
    rows = [row for row in installation.rows(PRICES, stores=list(STORES)) if row["sku"] not in promoted]
    stores = collections.Counter(row["sku"] for row in rows)
    skus = sorted(sku for sku, count in stores.items() if count == len(STORES))
    first = len(skus) // 2
    chosen = set(skus[first : first + max(40, 2 * CAMPAIGNS // len(STORES))])
    return {(row["vendor"], row["sku"]): row["price"] for row in rows if row["sku"] in chosen}


@contextlib.contextmanager
def _source(installation: Installation, folder: Path) -> Iterator[None]:
    """While the block runs, promotions come from both tables, and requests may leave faster. Afterwards the feed's are ended."""
    installation.erp(TABLE)
    sample = (PROJECT / "include/shelfsync/erp/sample/promotions.sql").read_text("utf-8").rstrip().rstrip(";")
    query = folder / "promotions.sql"
    query.write_text(BOTH.format(sample=sample), "utf-8")
    settings = installation.home / "sample.toml"
    written = settings.read_text("utf-8")
    ours = f'[promotions]\nvalues = "spec"\nsql_file = {json.dumps(str(query))}\n'
    changed, places = re.subn(r"^\[promotions\]\nsql_file = .*\n", lambda _: ours, written, flags=re.MULTILINE)
    assert places == 1, written
    limit = int(installation.sandbox("GET", "/settings")["requests_per_minute"])
    installation.sandbox("PUT", "/settings", {"requests_per_minute": REQUESTS_PER_MINUTE})
    settings.write_text(f"{changed}[rate_limit]\nrequests_per_minute = {REQUESTS_PER_MINUTE}\n", "utf-8")
    try:
        yield
        installation.erp("DELETE FROM erp.feed")
        installation.run("promotions_sync")
    finally:
        settings.write_text(written, "utf-8")
        installation.sandbox("PUT", "/settings", {"requests_per_minute": limit})


def _write(installation: Installation, feed: Feed) -> None:
    rows = json.dumps([row.columns() for row in feed.rows])
    with installation.at_once():
        installation.erp("DELETE FROM erp.feed")
        installation.erp(ROWS, rows=rows)


def _compare(installation: Installation, feed: Feed, model: NaiveModel) -> None:
    """A run of the DAG; afterwards the platform has the pairs of the model, at the latest when lost answers are recovered."""
    installation.run("promotions_sync")
    wanted = model.pairs()
    with contextlib.suppress(AssertionError):
        installation.until(lambda: not differences(_shown(installation, feed), wanted), "the pairs of the feed", 400)
    assert differences(_shown(installation, feed), wanted) == ""
    ours = {row.campaign for row in feed.rows}
    held = [row for row in installation.rows(HELD) if row["campaign"] in ours and row["vendor"] in STORES]
    assert sum(row["skus"] for row in held) == model.held


def _shown(installation: Installation, feed: Feed) -> list[Any]:
    """What the platform has of the feed's products."""
    skus = set(feed.skus)
    found = on_platform(lambda path: installation.sandbox("GET", f"/{path}"))
    return [pair for pair in found if pair.vendor in STORES and pair.sku in skus]
