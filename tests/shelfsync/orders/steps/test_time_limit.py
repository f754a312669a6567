"""Stores whose systems hang delay neither other stores nor picking results."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import sqlalchemy as sa

from partner_api.session import SystemClock
from shelfsync.orders.ledger import handovers
from shelfsync.orders.steps.hand_over import hand_over

MANY = """
WITH copies AS (SELECT 'copy-' || lpad(n::text, 4, '0') AS order_id, 'store-' || n % :stores AS store FROM generate_series(1, :orders) AS n),
made AS (
    INSERT INTO ledger.customer_order (order_id, vendor, status, transport_type, order_type, order_code, promised_for, placed_at, updated_at)
    SELECT copies.order_id, store, status, transport_type, order_type, order_code, promised_for, placed_at, updated_at
    FROM copies, ledger.customer_order AS first WHERE first.order_id = :first RETURNING order_id)
INSERT INTO ledger.order_version (order_id, source, digest, status, updated_at, body)
SELECT copies.order_id, source, digest || copies.order_id, status, updated_at,
    jsonb_set(replace(body, :first, copies.order_id)::jsonb, '{client,external_partner_config_id}', to_jsonb(store))::text
FROM copies, ledger.order_version AS version WHERE version.order_id = :first AND source = 'event'
"""


class StepClock(SystemClock):
    """Stands still, unless a test moves it."""

    def __init__(self) -> None:
        self.at_s = 1000.0

    def monotonic_s(self) -> float:
        return self.at_s


class Hub:
    """The one address at which all stores are called: counts the calls of each store, and takes its time over each."""

    def __init__(self, clock: StepClock) -> None:
        self.calls: Counter[str] = Counter()
        self.slow: dict[str, float] = {}
        """Seconds until a store's call fails; the calls of other stores succeed at once."""
        self.every_s = 0.0
        hub = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self):
                vendor = json.loads(self.rfile.read(int(self.headers["content-length"])))["vendor"]
                hub.calls[vendor] += 1
                clock.at_s += hub.slow.get(vendor, hub.every_s)
                self.send_response(503 if vendor in hub.slow else 204)
                self.end_headers()

            def log_message(self, *_):
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def clock():
    return StepClock()


@pytest.fixture
def hub(clock):
    with contextlib.closing(Hub(clock)) as opened:
        yield opened


@pytest.fixture
def run(make_world, hub, clock):
    """hand_over with `orders` orders of `stores` stores that wait, the stores in turns."""
    url = f"http://127.0.0.1:{hub.server.server_port}/"
    world = make_world(
        orders={"hand_over": "http", "hand_over_url": url, "hand_over_secret": "shared by all of us", "read_new": False}
    )
    context = dataclasses.replace(world.app.context, clock=clock)

    def call(orders: int, stores: int, attempts: int = 0):
        first = world.place("MILK")["order_id"]
        world.receive_events()
        world.app.orders.hand_over()
        hub.calls.clear()
        with context.engine.begin() as connection:
            connection.execute(sa.text(MANY), {"orders": orders, "stores": stores, "first": first})
            handovers.plan(connection, late_hours=6)
            connection.execute(sa.text("UPDATE ledger.hand_over SET attempts = :attempts"), {"attempts": attempts})
        return lambda: hand_over(context)

    return call


def test_stores_that_hang_are_left_for_the_next_run_before_they_cost_much(run, hub, clock):
    hub.slow = {f"store-{n}": 10.0 for n in range(100)}
    go = run(300, 100)
    began_s = clock.at_s
    counts = go()
    assert (sum(hub.calls.values()), clock.at_s - began_s, counts["left"]) == (3, 30.0, 297)


@pytest.mark.slow
def test_one_store_that_hangs_delays_no_other(run, hub):
    hub.slow = {"store-0": 10.0}
    counts = run(60, 3)()
    assert hub.calls == {"store-0": 1, "store-1": 20, "store-2": 20}
    assert (counts["written"], len(counts["failed"]), counts["left"]) == (40, 1, 19)


@pytest.mark.slow
def test_an_immediate_rejection_delays_no_store_not_even_its_own(run, hub):
    hub.slow = {"store-0": 0.0}
    counts = run(60, 3)()
    assert (counts["written"], len(counts["failed"]), counts["left"]) == (40, 20, 0)


def test_a_run_ends_in_time_though_every_store_is_merely_slow_and_the_next_one_goes_on(run, hub, clock):
    hub.every_s = 9.0
    go = run(10, 10)
    began_s = clock.at_s
    counts = go()
    assert clock.at_s - began_s <= 70
    assert (counts["written"], counts["left"]) == (7, 3)
    assert go()["written"] == 3
    assert set(hub.calls.values()) == {1}


def test_a_system_that_was_down_for_a_week_ends_no_run(run, hub):
    """The pause doubles with each try, and no number doubles for ever."""
    hub.slow = {"store-0": 0.0}
    go = run(2, 2, attempts=5000)
    assert [(counts["written"], len(counts["failed"])) for counts in (go(), go())] == [(1, 1), (0, 1)]
