"""Orders that no store takes, or that are too late: each is one alarm, shown in status, page and metrics."""

from __future__ import annotations

import pytest

from orders_world import change, picked
from shelfsync import metrics


class GaugeSink:
    def __init__(self):
        self.gauges = {}

    def count(self, name, by):
        """Not used."""

    def timing(self, name, seconds):
        """Not used."""

    def gauge(self, name, value):
        self.gauges[name] = value


@pytest.fixture
def gauges():
    sink = GaugeSink()
    metrics.use(sink)
    yield sink.gauges
    metrics.use(None)


def test_the_age_of_the_oldest_order_that_no_store_took_is_in_alarm_status_page_and_metrics(world, gauges):
    world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    assert world.app.orders.watch_stores() == []
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    (alarm,) = world.app.orders.watch_stores()
    assert "store store-001: 1 orders are not taken, the oldest for 10 minutes" in alarm
    assert (gauges["orders.not_taken"], 600 <= gauges["orders.not_taken_oldest_s"] < 700) == (1, True)
    status = world.app.status()["orders"]
    assert (status["open"], status["not_taken"], status["alarms"]) == (1, 1, [alarm])
    assert 600 <= status["oldest_not_taken_s"] < 700
    assert world.app.orders.today()["alarms"][0]["line"] == alarm


def test_an_order_is_watched_though_it_could_not_even_be_planned(world):
    """For example, the folder cannot be opened: nothing is planned, and the customer waits."""
    world.place("MILK")
    world.receive_events()
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    assert len(world.app.orders.watch_stores()) == 1


def test_an_order_of_which_only_an_unknown_status_is_known_is_an_alarm_until_another_comes(world):
    """What the word means is not known, so the order goes to no store by itself; its customer may wait all the same."""
    world.platform.faults({"at": "order_webhook", "kind": "lost", "after": 0})
    order = world.place("MILK")
    world.platform.until_quiescent()
    world.send_event(world.shown(order) | {"status": "PREPARING"})
    world.app.orders.take()
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    world.app.orders.hand_over()
    assert world.documents() == []
    (alarm,) = world.app.orders.watch_stores()
    assert "store store-001: 1 orders are not taken, the oldest for 10 minutes" in alarm
    assert f"`shelfsync orders show {order['order_id']}`" in alarm
    assert world.app.status()["orders"]["not_taken"] == 1
    world.send_event(world.shown(order))
    world.app.orders.take()
    world.app.orders.hand_over()
    assert len(world.documents()) == 1
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.app.orders.hand_over()
    world.app.orders.watch_stores()
    assert world.app.orders.today()["alarms"] == []


def test_an_order_that_names_no_store_is_asked_for_and_reaches_its_own(world):
    order = world.place("MILK")
    world.platform.until_quiescent()
    body = world.shown(order) | {"client": {}, "status": "RECEIVED"}
    for name in ("store_id", "external_partner_config_id"):
        body.pop(name, None)
    change(world, "DELETE FROM inbox.event")
    world.send_event(body)
    world.app.orders.take()
    assert world.rows("SELECT vendor FROM ledger.customer_order") == [(None,)]
    world.platform.faults({"at": "get_order", "kind": "status_503"})
    world.app.orders.hand_over()
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    assert "no store: 1 orders are not taken" in world.app.orders.watch_stores()[0]
    world.platform.faults()
    world.app.orders.hand_over()
    assert [document["vendor"] for document in world.documents()] == ["store-001"]


@pytest.mark.slow
def test_an_order_found_too_late_is_not_handed_over_and_raises_an_alarm(world):
    world.place("JAM")
    world.receive_events()
    change(world, "UPDATE ledger.order_version SET seen_at = now() - interval '10 days'")
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    lost = world.place("MILK", ago_s=8 * 3600)
    world.app.orders.history(["store-001"])
    world.app.orders.hand_over()
    assert lost["order_id"] not in {document["order_id"] for document in world.documents()}
    (alarm,) = world.app.orders.watch_stores()
    assert "store store-001: 1 open orders are too late to be handed over" in alarm
    world.platform.control("POST", f"orders/{lost['order_id']}/cancel")
    world.app.orders.history(["store-001"])
    world.app.orders.watch_stores()
    assert world.app.status()["orders"]["alarms"] == []


def promised(world, hours):
    """Moves the promise so long ago, and the arrival of the order to an hour before it."""
    promise = f"now() - interval '{hours} hours'"
    change(
        world,
        f"UPDATE ledger.customer_order SET promised_for = {promise}, first_seen_at = {promise} - interval '1 hour'",
    )


def test_an_order_that_waited_too_long_to_be_written_is_not_handed_over_and_its_customer_is_not_forgotten(world):
    """For example, the platform was unavailable for hours: the first attempt never reached the store."""
    world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "get_order", "kind": "status_503"})
    assert world.app.orders.hand_over()["written"] == 0
    world.platform.faults()
    promised(world, 7)
    counts = world.app.orders.hand_over()
    assert (counts["written"], counts["dropped"], world.documents()) == (0, 1, [])
    (alarm,) = world.app.orders.watch_stores()
    assert "store store-001: 1 open orders are too late to be handed over" in alarm
    assert world.app.orders.today()["alarms"][0]["line"] == alarm


def test_an_order_that_is_promised_anew_is_handed_over_after_all(world):
    world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "get_order", "kind": "status_503"})
    world.app.orders.hand_over()
    world.platform.faults()
    promised(world, 7)
    assert world.app.orders.hand_over()["dropped"] == 1
    promised(world, -1)
    assert world.app.orders.hand_over()["written"] == 1
    assert world.app.orders.watch_stores() == []


def test_a_result_unconfirmed_for_long_is_an_alarm(make_world):
    world = make_world(orders={"send_within_s": 0.001})
    order = world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "put_order", "kind": "not_applied"})
    world.report(order, "fulfil", picked("MILK"))
    world.app.orders.fulfil()
    assert world.results(order)[-1]["state"] == "answered"
    assert "1 picking results have not reached the platform" in world.app.orders.watch_stores()[0]


@pytest.mark.slow
def test_a_pause_of_the_catalog_strands_no_order(world):
    world.app.pause("chain", None, why="a test", who="ada", anyway=True)
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"
    assert world.app.orders.history(["store-001"])["failed"] == {}


def test_an_order_that_reaches_no_store_because_no_way_is_configured_is_an_alarm_at_once(make_world, gauges):
    world = make_world(orders={"hand_over": None, "hand_over_url": None})
    assert world.app.orders.watch_stores() == []
    world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    (alarm,) = world.app.orders.watch_stores()
    assert alarm.startswith("1 open orders reach no store: no way to the stores is set")
    assert world.app.orders.watch_stores() == []
    status = world.app.status()["orders"]
    assert (status["open"], status["not_taken"], status["alarms"]) == (1, 1, [alarm])
    assert world.app.orders.today()["alarms"][0]["line"] == alarm
    assert gauges["orders.not_taken"] == 1


def test_the_alarm_ends_as_soon_as_a_way_is_configured(make_world, store_folder):
    make_world(orders={"hand_over": None, "hand_over_url": None})
    unset = make_world(orders={"hand_over": None, "hand_over_url": None})
    unset.place("MILK")
    unset.receive_events()
    assert len(unset.app.orders.watch_stores()) == 1
    world = make_world()
    assert world.app.orders.hand_over()["written"] == 1
    assert world.app.orders.watch_stores() == []
    assert world.app.orders.today()["alarms"] == []


def test_where_stores_receive_orders_elsewhere_nothing_waits_for_them(make_world):
    world = make_world(orders={"hand_over": "none", "hand_over_url": None})
    world.place("MILK")
    world.receive_events()
    assert world.app.orders.hand_over()["planned"] == 0
    assert world.app.orders.watch_stores() == []
    assert world.app.status()["orders"]["not_taken"] == 0
    assert world.app.orders.today()["not_taken"] == []
    assert world.app.warnings() == []


def test_what_keeps_orders_from_stores_is_known_before_the_first_one_comes(make_world):
    (unset,) = make_world(orders={"hand_over": None, "hand_over_url": None}).app.warnings()
    assert unset.startswith("SHELFSYNC_ORDERS__HAND_OVER: is not set, so an order reaches no store. ")
    (half,) = make_world(orders={"hand_over": "http", "hand_over_url": None}).app.warnings()
    assert half.startswith("SHELFSYNC_ORDERS__HAND_OVER_URL: is not set")
    assert make_world().app.warnings() == []


def test_a_store_whose_history_is_not_read_any_more_is_no_alarm(make_world):
    """A closed store, or one that the setting leaves out: what is not asked for never comes, so the alarm would have no end."""
    world = make_world()
    change(world, "INSERT INTO ledger.vendor (vendor, forgotten) VALUES ('store-009', 'closed (ada)')")
    change(
        world,
        "INSERT INTO ledger.customer_order (order_id, status, vendor) VALUES"
        " ('11111111-2222-4333-8444-555555555555', 'DISPATCHED', 'store-009')",
    )
    change(
        world,
        "INSERT INTO ledger.order_history (vendor, since, covered_to) SELECT name, ledger.instant() - interval '55 days',"
        " ledger.instant() - interval '51 days' FROM unnest(ARRAY['store-001', 'store-009']) AS name",
    )
    change(world, "INSERT INTO ledger.vendor (vendor) VALUES ('store-001')")
    (alarm,) = world.app.orders.watch_history()
    assert alarm.startswith("store store-001: ")
    assert [row["vendor"] for row in world.app.orders.today()["history"]] == ["store-001"]
    other = make_world(sync={"vendors": ["store-002"]})
    other.app.orders.watch_history()
    assert other.app.orders.today()["alarms"] == []
    assert set(other.app.orders.history()["failed"]) <= {"store-002"}
