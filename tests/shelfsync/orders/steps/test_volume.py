"""Years of orders: every query of a minute uses an index, so it costs the same in the tenth year as on the first day."""

from __future__ import annotations

import pytest

from long_history import Planner, fill
from order_picker import STORE

pytestmark = pytest.mark.slow
ROWS = 50_000


def test_a_minute_of_orders_reads_no_table_of_years_from_end_to_end(world):
    planner = Planner(world.app.context.engine, fill(world.app.context.engine, ROWS))
    order, other = world.place("MILK"), world.place("MILK")
    world.receive_events()
    world.tick()
    world.report(order)
    world.tick()
    world.platform.control("POST", f"orders/{other['order_id']}/cancel")
    world.receive_events()
    world.tick()
    calls = world.app.orders
    calls.history([STORE])
    calls.watch_stores()
    calls.watch_history()
    calls.orders(vendor=STORE)
    calls.orders(vendor=STORE, only_open=True)
    calls.order(order["order_id"])
    calls.results(order["order_id"])
    calls.today()
    assert sorted(planner.whole) == []
