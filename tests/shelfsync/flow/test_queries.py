"""What the path asks of the ledger: as much for a vendor of three hundred SKUs as for one of three, and no more the more vendors there are."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import sqlalchemy as sa

from shelfsync.flow.extract import shards

_keys = itertools.count(1)
STEPS = ("normalise", "diff", "guard", "batch", "deliver")
STATEMENTS_MAX = 60
"""In one step for one vendor; what is measured is between 5 and 42."""

SLACK = 6
"""A lease renewed, a status asked once more: these follow the clock, not the rows."""


@pytest.fixture
def counted(world):
    """Counts the statements of each step over so many vendors with so many SKUs."""
    counts: Counter[str] = Counter()
    step = ["setup"]

    @sa.event.listens_for(world.house.parts.engine, "before_cursor_execute")
    def _count(*_):
        counts[step[0]] += 1

    def run(*names: str, skus: int) -> Counter[str]:
        for name in names:
            products = [
                {"sku": f"{sku:04}", "barcodes": [], "title": "A", "price": 9.99, "active": True} for sku in range(skus)
            ]
            world.platform.put_products(name, products)
            for sku in range(skus):
                world.erp.put(name, f"{sku:04}", f"{next(_keys)}.25", 10, 1, 5)
        run_id = world.house.open_run("full", f"queries/{next(_keys)}", names)
        world.house.extract(run_id)
        counts.clear()
        for word in STEPS:
            step[0] = word
            report = world.house.step(word, run_id, list(names))
            assert report["done"] == len(names), report
        step[0] = "between"
        world.house.wait(run_id, list(names))
        for word in ("confirm", "acknowledge"):
            step[0] = word
            report = world.house.step(word, run_id, list(names))
            assert report["done"] == len(names), report
        world.house.report(run_id)
        return Counter({word: count for word, count in counts.items() if word != "between"})

    return run


def test_a_step_asks_the_ledger_as_much_for_many_skus_as_for_few(counted):
    few, many = counted("store-001", skus=3), counted("store-002", skus=300)
    print(dict(few), dict(many))
    for word in (*STEPS, "confirm", "acknowledge"):
        assert 0 < many[word] <= min(few[word] + SLACK, STATEMENTS_MAX)


def test_each_vendor_asks_the_same_once_more(counted):
    one, three = counted("store-001", skus=3), counted("store-002", "store-003", "store-004", skus=3)
    print(dict(one), dict(three))
    for word in (*STEPS, "confirm", "acknowledge"):
        assert three[word] <= 3 * one[word] + SLACK


@pytest.mark.parametrize("vendors", [1, 40, 41, 200, 1000, 5000])
def test_the_tasks_of_a_run_are_bounded_by_shards_however_many_vendors_there_are(vendors):
    names = [f"store-{number:04}" for number in range(vendors)]
    groups = shards(names, 1, 5, 40)
    assert len(groups) <= 40
    assert [name for group in groups for name in group["vendors"]] == names
