"""An order that a store has taken and not picked in time is an alarm."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from picking_table import line, write


@pytest.fixture
def world(world_of_table):
    return world_of_table


@pytest.mark.slow
def test_an_order_whose_result_never_becomes_whole_is_an_alarm_when_it_is_due(world, till):
    """The store's system wrote one line of two, and died."""
    order = world.place("MILK", "HONEY")
    world.receive_events()
    world.app.orders.hand_over()
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.app.orders.hand_over()
    write(till, line(order, line_no=1, sku="MILK", status="picked", quantity=1))
    assert world.app.orders.collect()["partial"] == 1
    assert world.app.orders.watch_stores() == []
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.customer_order SET promised_for = now() - interval '6 minutes'"))
    (alarm,) = world.app.orders.watch_stores()
    assert "store store-001: 1 orders are taken, past their time, and not picked" in alarm
    assert world.app.orders.watch_stores() == []
    write(till, line(order, line_no=2, sku="HONEY", status="picked", quantity=1))
    world.until(order, "done")
    world.app.orders.watch_stores()
    assert world.app.orders.today()["alarms"] == []
