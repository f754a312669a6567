"""The endpoints of orders with faulty input: no 500, no traceback; an accepted event is applied, and later ones too."""

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

from fuzz_minute import MINUTE_S
from order_strategies import as_text, encoded, mutated, order_bodies, result_bodies
from orders_bodies import body
from orders_world import SECRET, picked
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer

SHORT_S = 0
EXAMPLES = 12
durations = pytest.mark.parametrize(
    "seconds", [SHORT_S, pytest.param(MINUTE_S, marks=[pytest.mark.slow, pytest.mark.proof])]
)


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

    with TestClient(create_app(lambda: world.app.context, guard)) as client:
        yield client


@pytest.mark.slow
@durations
def test_every_event_answered_200_is_applied_and_so_are_later_events(world, browse, caplog, seconds):
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
        counts = world.app.orders.take()
        assert counts["quarantined"] == 0, [
            row["quarantine_reason"] for row in world.app.inbox.listed(only_quarantined=True)
        ]
        assert world.app.orders.order(behind["order_id"]) is not None
        assert browse.get("/orders").status_code == 200
        assert browse.get(f"/orders/{order_id}").status_code in {200, 404}
        for number in answers:
            event(f"answer {number}")

    fuzz(law, st.lists(encoded(order_bodies(order_id)), min_size=1, max_size=5), seconds)
    assert "Traceback" not in caplog.text


@pytest.mark.slow
@durations
def test_no_picking_result_stops_later_results(world, browse, caplog, seconds):
    def law(contents):
        order, good = world.place("MILK", "CHEESE", "JAM"), world.place("MILK")
        world.receive_events()
        url = f"{world.receiver_url}/picking/{order['order_id']}"
        answers = [world.till.post(url, content=content).status_code for content in contents]
        assert set(answers) <= {200, 202, 400, 409, 413}, answers
        world.report(good, "fulfil", picked("MILK"))
        assert world.until(good, "done")["messages"] == []
        assert "quarantined" not in {one["state"] for one in world.results(order)}
        assert browse.get(f"/orders/{order['order_id']}").status_code == 200
        for number in answers:
            event(f"answer {number}")

    fuzz(law, st.lists(encoded(result_bodies()), min_size=1, max_size=3), seconds)
    assert "Traceback" not in caplog.text


@pytest.mark.slow
@durations
def test_no_amount_in_an_order_stops_its_results_or_others(world, caplog, seconds):
    def law(drawn):
        raw, content = drawn
        order, good = world.place("MILK", "CHEESE"), world.place("MILK")
        world.receive_events()
        strange = raw | {"order_id": order["order_id"], "sys": {"updated_at": "2199-01-01T00:00:00Z"}}
        world.till.post(
            f"{world.receiver_url}/webhook", content=as_text(strange).encode(), headers={"Authorization": SECRET}
        )
        world.app.orders.take()
        world.till.post(f"{world.receiver_url}/picking/{order['order_id']}", content=content)
        world.report(good, "fulfil", picked("MILK"))
        assert world.until(good, "done")["messages"] == []
        assert "quarantined" not in {one["state"] for one in world.results(order)}

    results = result_bodies().map(lambda one: as_text(one).encode())
    fuzz(law, st.tuples(order_bodies(str(uuid.uuid4())), results), seconds)
    assert "Traceback" not in caplog.text


class AnyHistory(BaseHTTPRequestHandler):
    """A platform whose history holds, for each store, the bytes in `pages` of its server."""

    def do_POST(self):
        self._answer(b'{"access_token": "x", "token_type": "Bearer", "expires_in": 7200}')

    def do_GET(self):
        self._answer(next((page for store, page in self.server.pages.items() if store in self.path), b"{}"))

    def _answer(self, content):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Quiet."""


@pytest.mark.slow
@durations
def test_no_history_of_a_store_stops_that_of_another(make_world, caplog, seconds):
    order_id = str(uuid.uuid4())
    server = ThreadingHTTPServer(("127.0.0.1", 0), AnyHistory)
    server.pages = {}
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    world = make_world(platform={"base_url": f"http://127.0.0.1:{server.server_port}"})

    def law(content):
        with world.app.context.engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM ledger.order_history")
        good = body(order_id=str(uuid.uuid4()))
        server.pages = {
            "store-001": content,
            "store-002": as_text({"page_number": 1, "total_pages": 1, "orders": [good]}).encode(),
        }
        counts = world.app.orders.history(["store-001", "store-002"])
        assert "store-002" not in counts["failed"]
        assert world.app.orders.order(good["order_id"]) is not None, "what is behind it is known"
        assert all("\n" not in why and len(why) < 2000 for why in counts["failed"].values())
        event("failed" if counts["failed"] else "read")

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
