"""Many promotions at once: no step does more for each of them because there are others."""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from shelfsync.promotions.steps.confirm import confirm

pytestmark = pytest.mark.slow

SLACK = 4
"""Statements that depend on time: a renewed lease, another status call."""


@pytest.fixture
def ended(shop):
    """So many campaigns, sent, and their jobs ended by the platform."""
    path = shop.world.app.promotions

    def run(first: int, last: int) -> None:
        for number in range(first, last):
            price = f"{8 + number / 100:.2f}"  # contents of its own
            shop.erp.put(f"c{number}", "abcd"[number % 4], price, start=number, end=number + 0.5)
        key = f"many/{last}"
        run_id = path.open_run(key)
        path.extract(run_id)
        path.plan(run_id)
        path.deliver()
        path.wait(run_id)

    return run


@pytest.fixture
def statements(shop):
    """How many statements the database was asked until now."""
    asked = itertools.count()

    @sa.event.listens_for(shop.world.app.context.engine, "before_cursor_execute")
    def _count(*_):
        next(asked)

    return lambda: copy.copy(asked).__next__()


def test_confirming_forty_promotions_asks_the_database_as_often_as_confirming_four(shop, ended, statements):
    counts = []
    for first, last in ((0, 4), (4, 44)):
        ended(first, last)
        asked = statements()
        assert confirm(shop.world.app.context).done == last - first
        counts.append(statements() - asked)
    assert counts[1] <= counts[0] + SLACK, counts
    states = Counter(shop.rows("SELECT state, wanted_path = acknowledged_path FROM ledger.promotion"))
    assert states == {("sent", True): 44}, "what the platform has is what was wanted: one file has both"


def test_a_run_without_changes_asks_and_writes_as_much_for_forty_promotions_as_for_four(shop, ended, statements):
    lake, counts = shop.world.app.context.lake, []
    for first, last in ((0, 4), (4, 44)):
        ended(first, last)
        confirm(shop.world.app.context)
        shop.erp.put(f"held{first}", "a", "1", start=900 + first, end=901 + first)
        shop.sync()
        before, asked = _files(lake), statements()
        assert shop.sync()["counts"]["requests"] == 0
        counts.append((statements() - asked, len(_files(lake) - before)))
    assert counts[1][0] <= counts[0][0] + SLACK, counts
    assert counts[1][1] == counts[0][1], "an unchanged promotion leaves nothing to write"


def _files(lake):
    """Each file of the lake as it was written last: a file that is written again is another one."""
    files = [path for path in Path(lake.root).rglob("*") if path.is_file()]
    return {(path, path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def test_a_dry_run_reports_time_and_reasons_and_leaves_the_quarantine_as_it_is(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c2", "b", "8")
    shop.erp.put("c2", "c", "12")
    summary = shop.sync(dry_run=True)
    assert summary["forecast"]["requests"] == 4, "each is sent once, and its job polled once"
    reason = summary["reasons"]["price_not_below_base"]
    assert (reason["rows"], reason["vendor"]) == (1, "store-001")
    assert '"12"' in reason["example"]
    assert [line for line in summary["lines"] if line.startswith(("sending takes 4 requests", "quarantined: 1 rows"))]
    assert shop.rows("SELECT count(*) FROM warehouse.promotion_quarantine") == [(0,)]
    assert shop.sync()["reasons"] == summary["reasons"]
    assert shop.rows("SELECT count(*) FROM warehouse.promotion_quarantine") == [(1,)]


def test_the_status_has_problems_first_and_reasons_with_samples_and_names_the_vendors_that_reject(shop):
    for number, sku in enumerate(("a", "stranger", "b")):
        shop.erp.put(f"c{number}", sku, "8", start=number, end=9, base_price="10")
    shop.erp.put("c3", "c", "12")
    shop.sync()
    status = shop.world.app.promotions.status()
    assert [row["campaign"] for row in status["promotions"]] == ["c1", "c0", "c2"]
    assert [(row["vendor"], row["reason"], row["pairs"]) for row in status["rejected_by_vendor"]] == [
        ("store-001", "missing SKU", 1)
    ]
    (found,) = status["quarantined"]
    assert (found["reason"], found["rows"], found["vendor"]) == ("price_not_below_base", 1, "store-001")
    assert '"12"' in found["example"]
    few = shop.world.app.promotions.status(problems=True)["promotions"]
    assert [row["campaign"] for row in few] == ["c1"]
    few = shop.world.app.promotions.status(campaign="c2", state="upcoming")["promotions"]
    assert [row["campaign"] for row in few] == ["c2"]
