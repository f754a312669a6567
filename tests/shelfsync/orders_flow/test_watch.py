"""What nobody takes, what nobody can be told, what came too late: each is one alarm, and all of it stands in status, page and metrics."""

from __future__ import annotations

import json

import httpx
import pytest
import sqlalchemy as sa

from orders_world import SECRET, picked
from shelfsync import metrics


class Heard:
    def __init__(self):
        self.gauges = {}

    def count(self, name, by):
        """Not of interest here."""

    def timing(self, name, seconds):
        """Not of interest here."""

    def gauge(self, name, value):
        self.gauges[name] = value


@pytest.fixture
def heard():
    sink = Heard()
    metrics.use(sink)
    yield sink.gauges
    metrics.use(None)


def change(world, statement):
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text(statement))


def test_the_age_of_the_oldest_order_that_no_store_took_is_told_everywhere(world, heard):
    world.place("MILK")
    world.heard()
    world.house.orders.hand_over()
    assert world.house.orders.watch_stores() == []
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    (alarm,) = world.house.orders.watch_stores()
    assert "store store-001: 1 orders are not taken, the oldest for 10 minutes" in alarm
    assert (heard["orders.not_taken"], 600 <= heard["orders.not_taken_oldest_s"] < 700) == (1, True)
    told = world.house.status()["orders"]
    assert (told["open"], told["not_taken"], told["alarms"]) == (1, 1, [alarm])
    assert 600 <= told["oldest_not_taken_s"] < 700
    assert world.house.orders.today()["alarms"][0]["message"] == alarm


def test_an_order_is_watched_though_it_could_not_even_be_planned(world):
    """The folder cannot be opened, say: nothing is planned, and the customer waits all the same."""
    world.place("MILK")
    world.heard()
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    assert len(world.house.orders.watch_stores()) == 1


def test_what_was_fulfilled_without_a_word_of_taking_is_nobodys_alarm(world):
    order = world.place("MILK")
    world.heard()
    world.house.orders.hand_over()
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    assert world.house.orders.watch_stores() == []


def test_an_order_that_names_no_store_is_asked_for_and_reaches_its_own(world):
    order = world.place("MILK")
    world.platform.until_settled()
    body = world.shown(order) | {"client": {}, "status": "RECEIVED"}
    for name in ("store_id", "external_partner_config_id"):
        body.pop(name, None)
    change(world, "DELETE FROM inbox.event")
    answer = httpx.post(
        f"{world.receiver_url}/webhook/orders",
        content=json.dumps(body),
        headers={"Authorization": SECRET},
        trust_env=False,
    )
    assert answer.status_code == 200
    world.house.orders.take()
    assert world.rows("SELECT vendor FROM ledger.customer_order") == [(None,)]
    world.platform.faults({"at": "get_order", "kind": "status_503"})
    world.house.orders.hand_over()
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    assert "no store: 1 orders are not taken" in world.house.orders.watch_stores()[0]
    world.platform.faults()
    world.house.orders.hand_over()
    assert [paper["vendor"] for paper in world.papers()] == ["store-001"]


def test_an_order_that_is_found_too_late_is_not_handed_over_and_not_passed_over_in_silence(world):
    world.place("JAM")
    world.heard()
    change(world, "UPDATE ledger.order_version SET seen_at = now() - interval '10 days'")
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    lost = world.place("MILK", ago_s=8 * 3600)
    world.house.orders.history(["store-001"])
    world.house.orders.hand_over()
    assert lost["order_id"] not in {paper["order_id"] for paper in world.papers()}
    (alarm,) = world.house.orders.watch_stores()
    assert "store store-001: 1 open orders were found too late to be handed over" in alarm
    world.platform.control("POST", f"orders/{lost['order_id']}/cancel")
    world.house.orders.history(["store-001"])
    world.house.orders.watch_stores()
    assert world.house.status()["orders"]["alarms"] == []


def test_a_result_of_which_nobody_is_sure_for_long_is_an_alarm(make_world):
    world = make_world(orders={"send_within_s": 0.001})
    order = world.place("MILK")
    world.heard()
    world.platform.faults({"at": "put_order", "kind": "not_applied"})
    world.say(order, "fulfil", picked("MILK"))
    world.house.orders.fulfil()
    assert world.told(order)[-1]["state"] == "answered"
    assert "1 picking results have not reached the platform" in world.house.orders.watch_stores()[0]


def test_a_pause_of_the_catalog_strands_no_order(world):
    world.house.pause("chain", None, why="a test", who="ada", anyway=True)
    order = world.place("MILK")
    world.heard()
    world.house.orders.hand_over()
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"
    assert world.house.orders.history(["store-001"])["failed"] == {}
