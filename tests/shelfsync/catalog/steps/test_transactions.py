"""Statements, transactions and files on the path of a price: how many a vendor costs in a delta, from the ERP's row to the baseline.

What a run costs by itself does not count: the law is the slope from few vendors to many.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from shelfsync.catalog.steps import each_vendor
from shelfsync.store.lake import Lake

pytestmark = pytest.mark.slow

FEW, MANY = 2, 8


@dataclass(frozen=True)
class Most:
    """What a vendor may cost: statements, transactions, readings of a file of the lake, and the statements that look for events."""

    statements: float
    transactions: float
    readings: float
    looks: float = 0.0


CHANGED = Most(statements=84, transactions=25, readings=17, looks=2)
"""Without a webhook, so that each job is polled once. On a busy machine, a late request takes another slot,
and more answers are a second apart, each of which looks for an open outage."""
SAME = Most(statements=0.5, transactions=0.2, readings=0)
"""Read again, the same: one statement ends all such vendors of a run."""


@pytest.fixture
def world(make_world):
    """One poll finds a job ended."""
    return make_world(sync={"poll_first_s": 1, "poll_max_s": 1, "job_deadline_s": 30})


@pytest.fixture
def counted(world, monkeypatch):
    """Counts what the process sends, and the files of the lake that it opens; a session in autocommit mode begins one transaction in this count.
    A ping counts as a statement.

    As on a quiet machine: on a busy one, a step that works for a second reads the rows of its other vendors again.
    """
    monkeypatch.setattr(each_vendor, "TRUSTED_S", math.inf)
    counts = Counter()
    engine = world.app.context.engine

    @sa.event.listens_for(engine, "begin")
    def begin(_connection):
        counts["transactions"] += 1

    @sa.event.listens_for(engine, "before_cursor_execute")
    def execute(_connection, _cursor, statement, *_):
        counts["statements"] += 1
        counts["looks"] += "body, received_at" in statement

    opened = Lake.open
    monkeypatch.setattr(Lake, "open", lambda lake, path: counts.update(readings=1) or opened(lake, path))
    ping = engine.dialect.do_ping
    engine.dialect.do_ping = lambda session: counts.update(statements=1) or ping(session)
    return counts


def _delta(world, counted, vendors, price):
    for vendor in vendors if price else ():
        world.erp.put(vendor, "a", price)
    counted.clear()
    assert world.sync("delta", *vendors)["sent"] == (len(vendors) if price else 0)
    return Counter(counted)


def test_a_vendor_costs_at_most_so_many_statements_and_transactions(world, counted):
    vendors = [f"store-{number:03}" for number in range(1, MANY + 1)]
    for vendor in vendors:
        world.platform.control("PUT", f"chains/demo-chain/vendors/{vendor}", {})
        world.platform.put_products(vendor, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}])
        world.erp.put(vendor, "a", "1.00")
    world.sync("full")
    for most, prices in ((CHANGED, ("2.00", "3.00")), (SAME, (None, None))):
        if most is SAME:
            world.sync()  # it finds that nothing is left, so that the next may end after the reading
        few, many = _delta(world, counted, vendors[:FEW], prices[0]), _delta(world, counted, vendors, prices[1])
        for what, allowed in vars(most).items():
            each = (many[what] - few[what]) / (MANY - FEW)
            print(f"{each:.1f} {what} a vendor, and {few[what] - FEW * each:.1f} a run")
            assert few[what] + 1 >= FEW * each >= 0, "the count sees neither the run's own nor the vendors'"
            assert each <= allowed, f"{each:.1f} {what} a vendor, and {few[what] - FEW * each:.1f} a run"
