"""Years of orders: whatever the minute asks is found through an index, so that it costs in the tenth year what it cost on the first day."""

from __future__ import annotations

import pytest

from order_desk import STORE
from years import Planner, fill

pytestmark = pytest.mark.slow
ROWS = 100_000


def test_a_minute_of_orders_reads_no_table_of_years_from_end_to_end(world):
    planner = Planner(world.house.parts.engine, fill(world.house.parts.engine, ROWS))
    order, other = world.place("MILK"), world.place("MILK")
    world.heard()
    world.tick()
    world.say(order)
    world.tick()
    world.platform.control("POST", f"orders/{other['order_id']}/cancel")
    world.heard()
    world.tick()
    desk = world.house.orders
    desk.history([STORE])
    desk.watch_stores()
    desk.watch_history()
    desk.orders(vendor=STORE)
    desk.orders(vendor=STORE, only_open=True)
    desk.order(order["order_id"])
    desk.results(order["order_id"])
    desk.today()
    assert sorted(planner.whole) == []
