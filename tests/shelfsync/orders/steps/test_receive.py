"""A picking result is stored once, by its result_id."""

from __future__ import annotations

from orders_world import not_found, picked


def test_a_repeated_result_is_known_and_sent_once(world):
    order = world.place("MILK")
    world.receive_events()
    answers = [world.report(order, "fulfil", picked("MILK"), result_id="till-1").status_code for _ in range(3)]
    world.until(order, "done")
    assert answers == [202, 200, 200]
    assert world.puts(order) == 1
    other = world.report(order, "fulfil", not_found("MILK"), result_id="till-1")
    assert (other.status_code, "result_id of its own" in other.text) == (409, True)
