"""Requests to an object store on the path of a price: how many a vendor costs. The law is the slope from few vendors to many."""

from __future__ import annotations

from collections import Counter

import pytest

from app_calls import open_calls
from s3_server import requests_recorded, s3  # noqa: F401  a fixture
from shelfsync.catalog.steps import sync as path

pytestmark = pytest.mark.slow

FEW, MANY = 2, 8
ONE_PROCESS, A_PROCESS_A_TASK, SAME = 6, 13, 2
TASKS_BEGIN = ("normalise", "confirm")
"""In Airflow, prepare, deliver, confirm and report are tasks, each of which is a process."""


@pytest.fixture
def world(make_world, s3):  # noqa: F811
    other = make_world(sync={"poll_first_s": 1, "poll_max_s": 1, "job_deadline_s": 30})
    other.settings = other.settings.model_copy(update={"lake_url": f"{s3}/requests"})
    with open_calls(other.settings) as other.app:
        yield other


def _delta(world, vendors, price):
    """The requests of one delta, by method and kind of file."""
    for vendor in vendors if price else ():
        world.erp.put(vendor, "a", price)
    with requests_recorded() as found:
        assert world.sync("delta", *vendors)["sent"] == (len(vendors) if price else 0)
    return Counter(f"{one.split()[0]} {one.partition('/requests/')[2].partition('/')[0]}" for one in found)


def test_a_vendor_costs_at_most_so_many_requests(world, monkeypatch):
    vendors = [f"store-{number:03}" for number in range(1, MANY + 1)]
    for vendor in vendors:
        world.platform.control("PUT", f"chains/demo-chain/vendors/{vendor}", {})
        world.platform.put_products(vendor, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}])
        world.erp.put(vendor, "a", "1.00")
    world.sync("full")

    def measured(most, first, second):
        few, many = _delta(world, vendors[:FEW], first), _delta(world, vendors, second)
        each = (many.total() - few.total()) / (MANY - FEW)
        print(f"{each:.1f} requests a vendor: {dict(many)}")
        assert few.total() + 1 >= FEW * each > 0, "the count sees neither the run's own nor the vendors'"
        assert each <= most, {kind: (few[kind], many[kind]) for kind in many | few}

    measured(ONE_PROCESS, "2.00", "3.00")
    world.sync()  # it finds that nothing is left, so that the next may end after the reading
    measured(SAME, None, None)

    def in_a_process_of_its_own(done):
        def work(context, *arguments, **more):
            context.lake._filesystem[0]._kept.clear()
            return done(context, *arguments, **more)

        return work

    step = path.step
    anew = in_a_process_of_its_own(step)

    def in_its_task(context, word, run_id, names):
        return (anew if word in TASKS_BEGIN else step)(context, word, run_id, names)

    monkeypatch.setattr(path, "step", in_its_task)
    monkeypatch.setattr(path, "deliver", in_a_process_of_its_own(path.deliver))
    monkeypatch.setattr(path, "report", in_a_process_of_its_own(path.report))
    measured(A_PROCESS_A_TASK, "4.00", "5.00")
