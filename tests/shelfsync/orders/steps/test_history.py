"""The history: complete, resumable, and with a record of the orders without an event."""

from __future__ import annotations

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import sqlalchemy as sa


def count(world, table):
    return world.rows(f"SELECT count(*) FROM {table}")[0][0]


def place_many(world, number, **options):
    return [world.place("MILK", ago_s=60, **options) for _ in range(number)]


@pytest.mark.parametrize("path", ["vendor", "orders"])
def test_the_history_is_read_on_whichever_path_the_platform_has(quiet, path):
    settings = quiet.platform.control("GET", "settings")
    quiet.platform.control("PUT", "settings", {**settings, "order_history_path": path})
    place_many(quiet, 3)
    counts = quiet.app.orders.history(["store-001"])
    quiet.platform.control("PUT", "settings", settings)
    assert (counts["vendors"], counts["orders"], counts["pages"], counts["failed"]) == (1, 3, 2, {})
    assert quiet.rows("SELECT status, count(*) FROM warehouse.customer_order GROUP BY 1") == [("RECEIVED", 3)]


def test_a_run_reads_so_many_pages_and_the_next_one_goes_on_where_it_ended(make_world):
    world = make_world(orders={"history_page_size": 2, "history_requests_max": 1, "history_window_days": 59})
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    place_many(world, 5)
    reports = [world.app.orders.history(["store-001"]) for _ in range(3)]
    assert [(one["orders"], one["left"]) for one in reports] == [(2, 1), (2, 1), (1, 0)]
    assert count(world, "warehouse.customer_order") == 5
    assert world.rows("SELECT covered_to IS NOT NULL, window_start FROM ledger.order_history") == [(True, None)]


@pytest.mark.parametrize(
    "fault", [{"kind": "first_page_again"}, {"kind": "endless_pages"}, {"kind": "status_500"}, {"kind": "drop_answer"}]
)
def test_pages_that_cannot_be_trusted_move_no_watermark_and_the_next_run_reads_them_again(quiet, fault):
    place_many(quiet, 3)
    quiet.platform.faults({"at": "list_orders", **fault, "times": 20})
    counts = quiet.app.orders.history(["store-001"])
    assert set(counts["failed"]) == {"store-001"}
    assert quiet.rows("SELECT covered_to FROM ledger.order_history") == [(None,)]
    quiet.platform.faults()
    assert quiet.app.orders.history(["store-001"])["failed"] == {}
    assert count(quiet, "warehouse.customer_order") == 3


def test_one_store_that_fails_stops_no_other(quiet):
    place_many(quiet, 1)
    counts = quiet.app.orders.history(["store-404", "store-001"])
    assert (set(counts["failed"]), counts["vendors"]) == ({"store-404"}, 1)


@pytest.mark.slow
def test_an_order_without_an_event_is_a_gap_and_repaired_and_goes_to_its_store(world):
    known = world.place("MILK", ago_s=60)
    world.receive_events()
    world.backdate_first_event()
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    lost = world.place("JAM", ago_s=30)
    counts = world.app.orders.history(["store-001"])
    assert counts["gaps"] == 1
    assert world.rows("SELECT order_id, status FROM ledger.order_gap") == [(lost["order_id"], "RECEIVED")]
    assert world.rows("SELECT in_history, in_inbox, repaired FROM ledger.order_day") == [(2, 1, 1)]
    world.app.orders.hand_over()
    assert {document["order_id"] for document in world.documents()} == {known["order_id"], lost["order_id"]}
    assert world.app.orders.history(["store-001"])["gaps"] == 0


@pytest.mark.slow
def test_an_event_too_large_to_be_received_is_found_by_the_history(world):
    world.place("JAM")
    world.receive_events()
    world.backdate_first_event()
    world.platform.faults({"at": "order_webhook", "kind": "oversized", "bytes": 2 * 1024 * 1024})
    order = world.place("MILK", ago_s=30)
    world.platform.until_quiescent()
    world.app.orders.history(["store-001"])
    assert (order["order_id"],) in [tuple(row) for row in world.rows("SELECT order_id FROM ledger.order_gap")]


def test_a_store_that_was_never_read_is_an_alarm_as_well(quiet):
    assert set(quiet.app.orders.history(["store-404"])["failed"]) == {"store-404"}
    assert quiet.app.orders.watch_history() == []
    with quiet.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.order_history SET since = now() - interval '51 days'"))
    (alarm,) = quiet.app.orders.watch_history()
    assert "store-404: its order history is known up to no day only" in alarm


def test_the_first_reading_of_60_days_is_no_alarm_however_long_it_takes(make_world):
    world = make_world(orders={"history_requests_max": 1})
    world.place("MILK", ago_s=55 * 86_400)
    assert world.app.orders.history(["store-001"])["left"] == 1
    assert world.app.orders.watch_history() == []


class PageOne(BaseHTTPRequestHandler):
    """A platform that knows no page parameter: it always returns page 1, without a page number."""

    def do_POST(self):
        self._answer({"access_token": "x", "token_type": "Bearer", "expires_in": 7200})

    def do_GET(self):
        names = [f"5b8e6f3c-0000-4222-8333-44445555666{place}" for place in range(2)]
        self._answer({"orders": [{"order_id": name, "status": "RECEIVED"} for name in names]})

    def _answer(self, body):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Quiet."""


@pytest.mark.slow
def test_a_page_that_comes_again_under_no_number_is_found_out(make_world):
    server = ThreadingHTTPServer(("127.0.0.1", 0), PageOne)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    world = make_world(platform={"base_url": f"http://127.0.0.1:{server.server_port}"})
    counts = world.app.orders.history(["store-001"])
    server.shutdown()
    server.server_close()
    assert "page 2 repeats the one before it" in counts["failed"]["store-001"]
    assert counts["pages"] == 2
    assert world.rows("SELECT covered_to, next_page FROM ledger.order_history") == [(None, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_order_of_the_history_is_in_the_inbox_or_a_gap_or_older_than_events(world, seed):
    chance = random.Random(seed)
    for _ in range(4):
        world.place("MILK", ago_s=chance.randint(1, 5) * 86_400)
    world.platform.until_quiescent()
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM inbox.event"))  # they were before we were
    expected = {"inbox": 0, "lost": 0}
    world.place("JAM", ago_s=60)
    world.receive_events()
    world.backdate_first_event()
    for number in range(6):
        lost = chance.random() < 0.5
        world.platform.faults(*([{"at": "order_webhook", "kind": "lost"}] if lost else []))
        world.place("MILK", ago_s=30 + number)
        expected["lost" if lost else "inbox"] += 1
        world.receive_events()
    world.app.orders.history(["store-001"])
    world.app.orders.history(["store-001"])
    sums = world.rows(
        "SELECT sum(in_history), sum(in_inbox), sum(gaps), sum(before_events) FROM warehouse.order_completeness"
    )
    assert [tuple(map(int, row)) for row in sums] == [(11, 1 + expected["inbox"], expected["lost"], 4)]
    assert len(world.rows("SELECT order_id FROM ledger.order_gap")) == expected["lost"]


def test_a_store_whose_history_will_soon_be_out_of_reach_is_one_alarm(quiet):
    quiet.app.orders.history(["store-001"])
    with quiet.app.context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE ledger.order_history SET covered_to = now() - interval '51 days', since = now() - interval '52 days'"
            )
        )
    alarms = [quiet.app.orders.watch_history() for _ in range(2)]
    assert [len(one) for one in alarms] == [1, 0]
    assert "after 60 days it cannot be read any more" in alarms[0][0]
