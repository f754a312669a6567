"""The doors of orders under strange input: no 500, no traceback, what was thanked for is usable, and nothing behind it stops."""

from __future__ import annotations

import itertools
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, event, given, seed, settings
from hypothesis import strategies as st

from order_strategies import as_text, encoded, mutated, order_bodies, result_bodies
from orders_bodies import body
from orders_world import SECRET, picked
from shelfsync.pages.app import create_app
from shelfsync.pages.viewer import Viewer

SHORT_S, LONG_S = 0, 60
EXAMPLES = 12
durations = pytest.mark.parametrize("seconds", [SHORT_S, pytest.param(LONG_S, marks=pytest.mark.slow)])


def fuzz(law, given_, seconds):
    """Rounds of examples until the time is over, one round at least; each round has other examples."""
    end = time.monotonic() + seconds
    for number in itertools.count():

        @seed(number)
        @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None, derandomize=False)
        @given(given_)
        def run(drawn):
            law(drawn)

        run()
        if time.monotonic() > end:
            return


@pytest.fixture
def browse(world):
    def guard(request: Request) -> None:
        request.state.viewer = Viewer("ada", may_decide=True)

    with TestClient(create_app(lambda: world.house, guard)) as client:
        yield client


@durations
def test_whatever_comes_as_an_order_what_is_thanked_for_is_applied_and_what_is_behind_it_too(
    world, browse, caplog, seconds
):
    order_id = str(uuid.uuid4())

    def law(contents):
        answers = []
        for content in contents:
            answer = world.till.post(
                f"{world.receiver_url}/webhook/orders", content=content, headers={"Authorization": SECRET}
            )
            answers.append(answer.status_code)
        behind = body(order_id=str(uuid.uuid4()))
        good = world.till.post(
            f"{world.receiver_url}/webhook", content=as_text(behind).encode(), headers={"Authorization": SECRET}
        )
        assert good.status_code == 200
        assert set(answers) <= {200, 400, 413}, answers
        told = world.house.orders.take()
        assert told["set_aside"] == 0, [row["set_aside"] for row in world.house.inbox.listed(only_set_aside=True)]
        assert world.house.orders.order(behind["order_id"]) is not None
        assert browse.get("/orders").status_code == 200
        assert browse.get(f"/orders/{order_id}").status_code in {200, 404}
        for number in answers:
            event(f"answer {number}")

    fuzz(law, st.lists(encoded(order_bodies(order_id)), min_size=1, max_size=5), seconds)
    assert "Traceback" not in caplog.text


@durations
def test_whatever_comes_as_a_picking_result_what_is_behind_it_goes_on(world, browse, caplog, seconds):
    def law(contents):
        order, good = world.place("MILK", "CHEESE", "JAM"), world.place("MILK")
        world.heard()
        url = f"{world.receiver_url}/picking/{order['order_id']}"
        answers = [world.till.post(url, content=content).status_code for content in contents]
        assert set(answers) <= {200, 202, 400, 409, 413}, answers
        world.say(good, "fulfil", picked("MILK"))
        assert world.until(good, "done")["messages"] == []
        assert "set_aside" not in {one["state"] for one in world.told(order)}
        assert browse.get(f"/orders/{order['order_id']}").status_code == 200
        for number in answers:
            event(f"answer {number}")

    fuzz(law, st.lists(encoded(result_bodies()), min_size=1, max_size=3), seconds)
    assert "Traceback" not in caplog.text


@durations
def test_whatever_an_order_says_of_amounts_its_results_and_others_come_to_an_end(world, caplog, seconds):
    def law(drawn):
        raw, content = drawn
        order, good = world.place("MILK", "CHEESE"), world.place("MILK")
        world.heard()
        strange = raw | {"order_id": order["order_id"], "sys": {"updated_at": "2199-01-01T00:00:00Z"}}
        world.till.post(
            f"{world.receiver_url}/webhook", content=as_text(strange).encode(), headers={"Authorization": SECRET}
        )
        world.house.orders.take()
        world.till.post(f"{world.receiver_url}/picking/{order['order_id']}", content=content)
        world.say(good, "fulfil", picked("MILK"))
        assert world.until(good, "done")["messages"] == []
        assert "set_aside" not in {one["state"] for one in world.told(order)}

    results = result_bodies().map(lambda one: as_text(one).encode())
    fuzz(law, st.tuples(order_bodies(str(uuid.uuid4())), results), seconds)
    assert "Traceback" not in caplog.text


class AnyHistory(BaseHTTPRequestHandler):
    """A platform whose history holds, for each store, the bytes in `pages` of its server."""

    def do_POST(self):
        self._say(b'{"access_token": "x", "token_type": "Bearer", "expires_in": 7200}')

    def do_GET(self):
        self._say(next((page for store, page in self.server.pages.items() if store in self.path), b"{}"))

    def _say(self, content):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Quiet."""


@durations
def test_whatever_the_history_of_a_store_holds_that_of_another_is_read(make_world, caplog, seconds):
    order_id = str(uuid.uuid4())
    server = ThreadingHTTPServer(("127.0.0.1", 0), AnyHistory)
    server.pages = {}
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    world = make_world(platform={"base_url": f"http://127.0.0.1:{server.server_port}"})

    def law(content):
        with world.house.parts.engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM ledger.order_history")
        good = body(order_id=str(uuid.uuid4()))
        server.pages = {
            "store-001": content,
            "store-002": as_text({"page_number": 1, "total_pages": 1, "orders": [good]}).encode(),
        }
        told = world.house.orders.history(["store-001", "store-002"])
        assert "store-002" not in told["failed"]
        assert world.house.orders.order(good["order_id"]) is not None, "what is behind it is known"
        assert all("\n" not in why and len(why) < 2000 for why in told["failed"].values())
        event("failed" if told["failed"] else "read")

    pages = st.builds(
        lambda page, orders: {**page, "orders": orders} if "orders" in page else page,
        mutated({"page_number": 1, "total_pages": 1, "orders": []}),
        st.lists(order_bodies(order_id), max_size=3),
    )
    fuzz(law, encoded(pages), seconds)
    server.shutdown()
    server.server_close()
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("name", ["%00", "x" * 3000, "%ed%a0%80", "..%2f..", "9" * 23, "%F0%9F%98%80"])
def test_an_address_that_names_no_order_is_answered(world, browse, name):
    for answer in (
        world.till.get(f"{world.receiver_url}/picking/{name}"),
        world.till.post(f"{world.receiver_url}/picking/{name}", json={"action": "cancel", "reason": "CLOSED"}),
        browse.get(f"/orders/{name}"),
    ):
        assert 400 <= answer.status_code < 500, answer.text
