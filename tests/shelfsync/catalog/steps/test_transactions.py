"""Transactions on the path of a price: how many a vendor with one body costs in a delta, from the ERP's row to the baseline."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlalchemy as sa

MAX = 35
"""They were 34: 8 from normalise to batch, 10 to deliver, 6 to wait (with a webhook, none of a poll), 7 to confirm, 3 to acknowledge."""


@pytest.fixture
def world(make_world):
    """One poll finds a job ended."""
    return make_world(sync={"poll_first_s": 1, "poll_max_s": 1, "job_deadline_s": 30})


@pytest.fixture
def begun(world):
    """Counts the transactions that the process begins; a session in autocommit mode counts once."""
    counts = Counter()

    @sa.event.listens_for(world.app.context.engine, "begin")
    def count(_connection):
        counts["begun"] += 1

    return counts


def _delta(world, begun, vendors, price):
    for vendor in vendors:
        world.erp.put(vendor, "a", price)
    before = begun["begun"]
    assert world.sync("delta", *vendors)["sent"] == len(vendors)
    return begun["begun"] - before


@pytest.mark.slow
def test_a_vendor_with_one_body_costs_at_most_so_many_transactions(world, begun):
    vendors = [f"store-00{number}" for number in range(1, 5)]
    for vendor in vendors:
        world.platform.put_products(vendor, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}])
        world.erp.put(vendor, "a", "1.00")
    world.sync("full")
    one, four = _delta(world, begun, vendors[:1], "2.00"), _delta(world, begun, vendors, "3.00")
    each = (four - one) / 3
    assert one > each > 0, "the count sees neither the run's own transactions nor the vendors'"
    assert each <= MAX, f"{each:.1f} transactions a vendor and body, and {one - each:.1f} a run"
    print(f"{each:.1f} transactions a vendor and body, and {one - each:.1f} a run")
