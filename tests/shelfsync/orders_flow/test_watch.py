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
    assert "store store-001: 1 open orders are too late to be handed over" in alarm
    world.platform.control("POST", f"orders/{lost['order_id']}/cancel")
    world.house.orders.history(["store-001"])
    world.house.orders.watch_stores()
    assert world.house.status()["orders"]["alarms"] == []


def promised(world, hours):
    """The customer's hour: so long ago, and the order was heard of an hour before it."""
    promise = f"now() - interval '{hours} hours'"
    change(
        world,
        f"UPDATE ledger.customer_order SET promised_for = {promise}, first_seen_at = {promise} - interval '1 hour'",
    )


def test_an_order_that_no_store_took_stays_an_alarm_however_long_ago_it_was_promised(world):
    order = world.place("MILK")
    world.heard()
    world.house.orders.hand_over()
    promised(world, 7)
    (alarm,) = world.house.orders.watch_stores()
    assert "store store-001: 1 orders are not taken, the oldest for 480 minutes" in alarm
    world.house.orders.hand_over()
    assert world.house.orders.watch_stores() == []
    assert [row["message"] for row in world.house.orders.today()["alarms"]] == [alarm]
    assert world.house.status()["orders"]["not_taken"] == 1
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.heard()
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.house.orders.hand_over()
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.house.orders.hand_over()
    world.house.orders.watch_stores()
    assert world.house.orders.today()["alarms"] == []


def test_an_order_that_waited_too_long_to_be_written_is_not_handed_over_and_its_customer_is_not_forgotten(world):
    """The platform could not be asked for hours, say: the first try never came to the store."""
    world.place("MILK")
    world.heard()
    world.platform.faults({"at": "get_order", "kind": "status_503"})
    assert world.house.orders.hand_over()["written"] == 0
    world.platform.faults()
    promised(world, 7)
    told = world.house.orders.hand_over()
    assert (told["written"], told["dropped"], world.papers()) == (0, 1, [])
    (alarm,) = world.house.orders.watch_stores()
    assert "store store-001: 1 open orders are too late to be handed over" in alarm
    assert world.house.orders.today()["alarms"][0]["message"] == alarm


def test_an_order_that_is_promised_anew_is_handed_over_after_all(world):
    world.place("MILK")
    world.heard()
    world.platform.faults({"at": "get_order", "kind": "status_503"})
    world.house.orders.hand_over()
    world.platform.faults()
    promised(world, 7)
    assert world.house.orders.hand_over()["dropped"] == 1
    promised(world, -1)
    assert world.house.orders.hand_over()["written"] == 1
    assert world.house.orders.watch_stores() == []


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


def test_an_order_that_reaches_no_store_because_no_way_is_configured_is_an_alarm_at_once(make_world, heard):
    world = make_world(orders={"hand_over": None, "hand_over_url": None})
    assert world.house.orders.watch_stores() == []
    world.place("MILK")
    world.heard()
    world.house.orders.hand_over()
    (alarm,) = world.house.orders.watch_stores()
    assert alarm.startswith("1 open orders reach no store: SHELFSYNC_ORDERS__HAND_OVER is not set")
    assert world.house.orders.watch_stores() == []
    told = world.house.status()["orders"]
    assert (told["open"], told["not_taken"], told["alarms"]) == (1, 1, [alarm])
    assert world.house.orders.today()["alarms"][0]["message"] == alarm
    assert heard["orders.not_taken"] == 1


def test_the_alarm_ends_as_soon_as_a_way_is_configured(make_world, store_folder):
    make_world(orders={"hand_over": None, "hand_over_url": None})
    unset = make_world(orders={"hand_over": None, "hand_over_url": None})
    unset.place("MILK")
    unset.heard()
    assert len(unset.house.orders.watch_stores()) == 1
    world = make_world()
    assert world.house.orders.hand_over()["written"] == 1
    assert world.house.orders.watch_stores() == []
    assert world.house.orders.today()["alarms"] == []


def test_where_stores_learn_of_orders_elsewhere_on_purpose_nothing_waits_for_them(make_world):
    world = make_world(orders={"hand_over": "none", "hand_over_url": None})
    world.place("MILK")
    world.heard()
    assert world.house.orders.hand_over()["planned"] == 0
    assert world.house.orders.watch_stores() == []
    assert world.house.status()["orders"]["not_taken"] == 0
    assert world.house.orders.today()["not_taken"] == []
    assert world.house.warnings() == []


def test_what_keeps_orders_from_stores_is_known_before_the_first_one_comes(make_world):
    (unset,) = make_world(orders={"hand_over": None, "hand_over_url": None}).house.warnings()
    assert unset.startswith("SHELFSYNC_ORDERS__HAND_OVER: is not set, so an order reaches no store. ")
    (half,) = make_world(orders={"hand_over": "http", "hand_over_url": None}).house.warnings()
    assert half.startswith("SHELFSYNC_ORDERS__HAND_OVER_URL: is not set")
    assert make_world().house.warnings() == []
