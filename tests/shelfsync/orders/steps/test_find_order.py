"""Which order a name means: the id, else the newest with this external number or short code, and the others with it."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.orders.steps.find_order import find_order


def test_an_id_is_one_order_and_a_code_the_newest_of_several(world):
    older, newer = (world.place("MILK")["order_id"] for _ in range(2))
    world.receive_events()
    context = world.app.context
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE warehouse.customer_order SET order_code = 'A7X2'"))
        connection.execute(
            sa.text(
                "UPDATE warehouse.customer_order SET placed_at = placed_at - interval '1 day' WHERE order_id = :old"
            ),
            {"old": older},
        )
    assert find_order(context, older)["others"] == []
    found = find_order(context, " A7X2 ")
    assert (found["order_id"], [one["order_id"] for one in found["others"]]) == (newer, [older])


def test_what_no_order_can_be_called_is_no_order(world):
    assert [find_order(world.app.context, name) for name in ("", " ", "\x00", "A7X2")] == [None] * 4
