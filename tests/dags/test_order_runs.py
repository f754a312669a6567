"""Whole runs of the orders' DAGs by `dag.test()`: live platform, receiver, database. One run carries an order for each row and rule."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from airflow_world import states
from order_desk import ASSORTMENT, STORE
from orders_world import KEY, PHONE, PICKING_SECRET, SECRET, added, ago, not_found, picked, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow_world import World

VENDOR = {"transport_type": "VENDOR_DELIVERY"}
PICKUP = {"order_type": "PICKUP"}
LATER = {"accepted_for": "2030-01-01T12:00:00Z"}


@dataclass(frozen=True)
class Case:
    """A basket, what the store says of it, and how it has to end: the rule that refuses it, or the platform's status."""

    name: str
    basket: tuple[Any, ...]
    said: tuple[dict[str, Any], ...]
    ends: str
    rule: str | None = None
    action: str = "fulfil"
    options: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


def fulfilled(
    name: str, basket: tuple[Any, ...], *said: dict[str, Any], ends: str = "READY_FOR_PICKUP", **more: Any
) -> Case:
    return Case(name, basket, said, ends, **more)


def refused(name: str, rule: str, basket: tuple[Any, ...], *said: dict[str, Any], **more: Any) -> Case:
    return Case(name, basket, said, "RECEIVED", rule, **more)


TWO = {"sku": "MILK", "quantity": 2}
CASES = [
    # 3.1, row by row
    fulfilled("platform delivery is ready", ("MILK",), picked("MILK")),
    fulfilled("collected in store is ready", ("MILK",), picked("MILK"), options=PICKUP),
    fulfilled("collected from a delivering store is ready", ("MILK",), picked("MILK"), options={**VENDOR, **PICKUP}),
    fulfilled("vendor delivery is dispatched", ("MILK",), picked("MILK"), ends="DISPATCHED", options=VENDOR),
    Case("vendor delivery is accepted", ("MILK",), (), "ACCEPTED", action="accept", options=VENDOR, more=LATER),
    Case("a check changes nothing", (TWO,), (picked("MILK", quantity=1),), "RECEIVED", action="check"),
    Case("a store cancels by its own word", ("MILK",), (), "cancelled", action="cancel", more={"reason": "CLOSED"}),
    refused("an item by its _id alone", "sku", ("MILK",), {"status": "picked", "item_id": "@MILK"}),
    # 4.8.1
    refused("platform delivery is not accepted", "accept_vendor_delivery", ("MILK",), action="accept", more=LATER),
    refused("an acceptance without its time", "accepted_for", ("MILK",), action="accept", options=VENDOR),
    # 4.8.3
    fulfilled("what is not found is left out", ("MILK", "JAM"), picked("MILK"), not_found("JAM")),
    refused("nothing is said of an item", "undecided", ("MILK", "JAM"), picked("MILK")),
    refused("nothing was found", "nothing_picked", ("MILK",), not_found("MILK")),
    # 4.8.4
    fulfilled("fewer pieces", (TWO,), picked("MILK", quantity=1)),
    fulfilled("more pieces", (TWO,), picked("MILK", quantity=4)),
    refused("too many pieces", "quantity", (TWO,), picked("MILK", quantity=5)),
    refused("half a piece", "whole_pieces", (TWO,), picked("MILK", quantity="1.5")),
    fulfilled("a lower price", (TWO,), picked("MILK", unit_price="1.25")),
    refused("a higher price", "unit_price", (TWO,), picked("MILK", unit_price="1.51")),
    fulfilled("a higher total", (TWO,), picked("MILK", total_price="3.5")),
    refused("both prices", "both_prices", (TWO,), picked("MILK", unit_price="1.25", total_price="2")),
    refused("a weight of pieces", "weight_of_pieces", (TWO,), picked("MILK", weight="0.5")),
    # 4.8.5
    fulfilled("another weight", ("CHEESE",), picked("CHEESE", weight="1.234")),
    refused("too heavy", "weight", ("CHEESE",), picked("CHEESE", weight="1.501")),
    refused("pieces of what is weighed", "quantity_of_weighed", ("CHEESE",), picked("CHEESE", quantity=2)),
    refused("a price of what is weighed", "price_of_weighed", ("CHEESE",), picked("CHEESE", unit_price="11")),
    # 4.8.6
    fulfilled("a confirmed amount within a tenth", (TWO,), picked("MILK"), more={"confirmed_amount": "5.9"}),
    refused(
        "a confirmed amount beyond a tenth", "confirmed_amount", (TWO,), picked("MILK"), more={"confirmed_amount": "7"}
    ),
    # 4.8.7
    fulfilled("a cheaper replacement", ("JAM",), replaced("JAM", "BREAD")),
    fulfilled("an inactive replacement", ("JAM",), replaced("JAM", "OLD")),
    fulfilled("weighed for weighed", ("CHEESE",), replaced("CHEESE", "GOUDA", weight="0.9")),
    fulfilled("counted for weighed", ("CHEESE",), replaced("CHEESE", "HONEY")),
    refused("weighed for counted", "weighed_for_counted", ("HONEY",), replaced("HONEY", "GOUDA", weight="0.5")),
    refused("a dearer replacement", "dearer", ("JAM",), replaced("JAM", "HONEY")),
    refused("a replacement that no store has", "replacement_unknown", ("JAM",), replaced("JAM", "NOWHERE")),
    refused(
        "two replacements",
        "one_replacement",
        ("HONEY",),
        {**replaced("HONEY", "JAM"), "replaced_by": [{"sku": "JAM", "quantity": 1}, {"sku": "MILK", "quantity": 1}]},
    ),
    refused(
        "a replacement without a quantity",
        "replacement_quantity",
        ("JAM",),
        {"sku": "JAM", "status": "replaced", "replaced_by": {"sku": "BREAD"}},
    ),
    refused(
        "a weighed replacement without a weight",
        "replacement_weight",
        ("CHEESE",),
        {"sku": "CHEESE", "status": "replaced", "replaced_by": {"sku": "GOUDA"}},
    ),
    # 4.8.8
    fulfilled("an addition at the catalog's price", ("MILK",), picked("MILK"), added("JAM", quantity=2)),
    fulfilled("an addition at another price", ("MILK",), picked("MILK"), added("JAM", quantity=1, unit_price="9")),
    fulfilled("a weighed addition", ("MILK",), picked("MILK"), added("CHEESE", weight="0.4")),
    refused("an addition without a quantity", "addition_quantity", ("MILK",), picked("MILK"), added("JAM")),
    refused(
        "a weighed addition without a weight", "addition_weight", ("MILK",), picked("MILK"), added("CHEESE", quantity=1)
    ),
    refused(
        "an addition that no store has", "addition_unknown", ("MILK",), picked("MILK"), added("NOWHERE", quantity=1)
    ),
    # 4.8.9
    fulfilled("checked first", (TWO,), picked("MILK", quantity=1), more={"check_first": True}),
]


@dataclass
class Orders:
    """The orders' side of an Airflow world."""

    world: World
    receiver: str
    folder: Path

    def place(self, case: Case, **more: Any) -> dict[str, Any]:
        items = [{"sku": line, "quantity": 1} if isinstance(line, str) else line for line in case.basket]
        return self.world.platform.control(
            "POST", f"chains/demo-chain/vendors/{STORE}/orders", {"items": items, **case.options, **more}
        )

    def say(self, case: Case, order: dict[str, Any]) -> None:
        ids = {f"@{item['sku']}": item["_id"] for item in order["items"]}
        lines = [
            {name: ids.get(str(value), value) if name == "item_id" else value for name, value in line.items()}
            for line in case.said
        ]
        body = {"action": case.action, **({"items": lines} if lines else {}), **case.more}
        answer = httpx.post(
            f"{self.receiver}/picking/{order['order_id']}",
            json=body,
            headers={"Authorization": PICKING_SECRET},
            trust_env=False,
        )
        assert answer.status_code == 202, (case.name, answer.text)

    def results(self) -> dict[str, tuple[str, list[str]]]:
        """order_id -> (state, rules) of its last result."""
        rows = self.world.rows("SELECT order_id, state, problems FROM ledger.picking_result ORDER BY result_no")
        return {order_id: (state, [one["rule"] for one in problems or ()]) for order_id, state, problems in rows}

    def platform_status(self) -> dict[str, str]:
        with self.world.platform.partner() as partner:
            ids = [row[0] for row in self.world.rows("SELECT order_id FROM ledger.customer_order")]
            return {one: partner.get(f"/v2/chains/demo-chain/orders/{one}").json()["status"] for one in ids}

    def put(self) -> set[str]:
        """The orders of which a PUT reached the platform."""
        entries = self.world.platform.journal()["entries"]
        return {one["route"].split("/")[5] for one in entries if one["operation"] == "put_order"}

    def papers(self) -> list[dict[str, Any]]:
        return [json.loads(file.read_text()) for file in sorted(self.folder.glob("*/*.json"))]


@contextlib.contextmanager
def live_receiver(database_url: str) -> Iterator[str]:
    from shelfsync.inbox.server import config, receiver_app
    from shelfsync.settings import OrdersSettings, Settings, WebhookSettings

    settings = Settings(
        database_url=database_url,
        webhook=WebhookSettings(secret=SECRET),
        orders=OrdersSettings(picking_secret=PICKING_SECRET),
    )
    server = uvicorn.Server(config(receiver_app(settings)))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def orders(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Orders]:
    """A store may know its customers, so its folder lies beside what is looked through for canaries."""
    store = tempfile.mkdtemp(prefix="store-")
    values = {
        "PERSONAL_KEY": KEY,
        "HAND_OVER": "files",
        "HAND_OVER_URL": store,
        "CONFIRM_S": "0",
        "RETRY_FIRST_S": "0",
        "HISTORY_LAG_S": "0",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"SHELFSYNC_ORDERS__{name}", value)
    world.platform.put_products(STORE, ASSORTMENT)
    with live_receiver(world.database_url) as url:
        world.platform.put_webhook(order_url=f"{url}/webhook/orders", secret=SECRET)
        yield Orders(world, url, Path(store))
    shutil.rmtree(store)


def test_every_row_of_3_1_and_every_rule_of_4_8_ends_as_it_says(
    orders: Orders, caplog: pytest.LogCaptureFixture
) -> None:
    world = orders.world
    placed = {case.name: orders.place(case) for case in CASES}
    world.platform.until_settled()
    assert world.run("orders_fulfilment").state == "success"
    assert {paper["order_id"] for paper in orders.papers()} == {order["order_id"] for order in placed.values()}
    assert set(orders.platform_status().values()) == {"RECEIVED"}
    for case in CASES:
        orders.say(case, placed[case.name])
    for _ in range(2):
        assert world.run("orders_fulfilment").state == "success"
        world.platform.until_settled()
    results, status, put = orders.results(), orders.platform_status(), orders.put()
    wrong = []
    for case in CASES:
        order_id = placed[case.name]["order_id"]
        state, rules = results[order_id]
        wanted = "refused" if case.rule else "checked" if case.action == "check" else "done"
        good = (state, status[order_id]) == (wanted, case.ends)
        good &= rules == ([case.rule] if case.rule else []) or (case.rule == "sku" and "sku" in rules)
        good &= (order_id in put) == (case.rule is None)
        wrong += [] if good else [(case.name, state, rules, status[order_id], order_id in put)]
    assert wrong == []
    assert PHONE not in "\n".join(caplog.messages)
    replies = {paper["order_id"]: paper["state"] for paper in orders.papers() if paper["kind"] == "reply"}
    assert len(replies) == len(CASES)


def test_what_customers_and_logistics_cancel_reaches_the_store_as_cancelled(orders: Orders) -> None:
    case = CASES[0]
    by = {who: orders.place(case)["order_id"] for who in ("CUSTOMER", "LOGISTICS")}
    orders.world.platform.until_settled()
    orders.world.run("orders_fulfilment")
    for who, order_id in by.items():
        orders.world.platform.control("POST", f"orders/{order_id}/cancel", {"by": who, "reason": "CLOSED"})
    orders.world.platform.until_settled()
    orders.world.run("orders_fulfilment")
    assert {paper["order_id"] for paper in orders.papers() if paper["kind"] == "cancelled"} == set(by.values())
    rows = orders.world.rows("SELECT order_id, status, cancelled_by FROM warehouse.customer_order")
    assert {(order_id, status, who) for order_id, status, who in rows} == {
        (order_id, "CANCELLED", who) for who, order_id in by.items()
    }


def test_a_run_with_nothing_to_do_ends_well_and_asks_nobody(orders: Orders) -> None:
    run = orders.world.run("orders_fulfilment")
    assert set.union(*states(run).values()) == {"success"}
    assert [one["operation"] for one in orders.world.platform.journal()["entries"]] == []


def test_the_history_finds_what_no_event_told_and_the_next_run_hands_it_over(orders: Orders) -> None:
    orders.place(CASES[0])
    orders.world.platform.until_settled()
    orders.world.run("orders_fulfilment")
    orders.world.platform.faults({"at": "order_webhook", "kind": "lost"})
    lost = orders.place(CASES[0], placed_at=ago(60))["order_id"]
    run = orders.world.run("orders_history")
    assert set.union(*states(run).values()) == {"success"}
    orders.world.run("orders_fulfilment")
    assert lost in {paper["order_id"] for paper in orders.papers()}


def test_wrong_credentials_fail_the_run_and_leave_every_order_as_it_is(
    orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = orders.place(CASES[0])
    orders.world.platform.until_settled()
    orders.world.run("orders_fulfilment")
    orders.say(CASES[0], order)
    with monkeypatch.context() as wrong:
        wrong.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", "not it")
        run = orders.world.run("orders_fulfilment")
    assert (run.state, states(run)["fulfil"], states(run)["watch"]) == ("failed", {"failed"}, {"failed"})
    assert orders.platform_status()[order["order_id"]] == "RECEIVED"
    for _ in range(2):
        orders.world.run("orders_fulfilment")
        orders.world.platform.until_settled()
    assert orders.platform_status()[order["order_id"]] == "READY_FOR_PICKUP"


def test_the_trigger_fires_when_something_waits_and_again_only_for_something_new(orders: Orders) -> None:
    import asyncio

    from shelfsync_airflow.order_news import OrderNewsTrigger

    async def fired() -> list[int]:
        path, arguments = OrderNewsTrigger().serialize()
        assert (path.rsplit(".", 1)[1], arguments) == ("OrderNewsTrigger", {})
        told = []
        run = OrderNewsTrigger().run()
        for count in (1, 2):
            await asyncio.to_thread(orders.place, CASES[0])
            event = await asyncio.wait_for(anext(run), 30)
            told.append(event.payload["waiting"])
            assert told[-1] == count
        await run.aclose()
        return told

    assert asyncio.run(fired()) == [1, 2]
