"""Whole runs of the orders' DAGs by `dag.test()`: live platform, receiver, database. One run carries an order for each row and rule."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from airflow_world import states
from order_cases import CASES, LATER, VENDOR, Case
from order_picker import ASSORTMENT, STORE
from orders_world import KEY, PHONE, PICKING_KEY, PICKING_SECRET, SECRET, ago, picked
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow_world import World


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

    def report_picking(self, case: Case, order: dict[str, Any]) -> None:
        ids = {f"@{item['sku']}": item["_id"] for item in order["items"]}
        lines = [
            {name: ids.get(str(value), value) if name == "item_id" else value for name, value in line.items()}
            for line in case.lines
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
    from shelfsync.receiver.server import config, receiver_app
    from shelfsync.settings import OrdersSettings, Settings, WebhookSettings

    settings = Settings(
        database_url=database_url,
        webhook=WebhookSettings(secret=SECRET),
        orders=OrdersSettings(picking_secret=PICKING_KEY),
    )
    with serving(config(receiver_app(settings))) as url:
        yield url


@pytest.fixture
def orders(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Orders]:
    """A store may know its customers, so its folder lies beside what is looked through for canaries."""
    store = tempfile.mkdtemp(prefix="store-")
    values = {
        "ENCRYPTION_KEY": KEY,
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


@pytest.mark.slow
def test_every_row_of_3_1_and_every_rule_of_4_8_ends_as_specified(
    orders: Orders, caplog: pytest.LogCaptureFixture
) -> None:
    world = orders.world
    placed = {case.name: orders.place(case) for case in CASES}
    world.platform.until_quiescent()
    assert world.run("orders_fulfilment").state == "success"
    assert {paper["order_id"] for paper in orders.papers()} == {order["order_id"] for order in placed.values()}
    assert set(orders.platform_status().values()) == {"RECEIVED"}
    for case in CASES:
        orders.report_picking(case, placed[case.name])
    for _ in range(2):
        assert world.run("orders_fulfilment").state == "success"
        world.platform.until_quiescent()
    results, status, put = orders.results(), orders.platform_status(), orders.put()
    wrong = []
    for case in CASES:
        order_id = placed[case.name]["order_id"]
        state, rules = results[order_id]
        wanted = "rejected" if case.rule else "checked" if case.action == "check" else "done"
        good = (state, status[order_id]) == (wanted, case.ends)
        good &= rules == ([case.rule] if case.rule else []) or (case.rule == "sku" and "sku" in rules)
        good &= (order_id in put) == (case.rule is None)
        wrong += [] if good else [(case.name, state, rules, status[order_id], order_id in put)]
    assert wrong == []
    assert PHONE not in "\n".join(caplog.messages)
    replies = {paper["order_id"]: paper["state"] for paper in orders.papers() if paper["kind"] == "reply"}
    assert len(replies) == len(CASES)


@pytest.mark.slow
def test_an_accepted_order_is_dispatched_later_and_the_acceptance_has_no_event(orders: Orders) -> None:
    world = orders.world
    accepted = Case("accepted", ("MILK",), (), "ACCEPTED", action="accept", options=VENDOR, more=LATER)
    order = orders.place(accepted)
    for case, ends in ((accepted, "ACCEPTED"), (Case("dispatched", (), (picked("MILK"),), "DISPATCHED"), "DISPATCHED")):
        orders.report_picking(case, order)
        for _ in range(2):
            assert world.run("orders_fulfilment").state == "success"
            world.platform.until_quiescent()
        assert orders.platform_status() == {order["order_id"]: ends}
        assert orders.results()[order["order_id"]][0] == "done"
    world.run("orders_fulfilment")
    result = "SELECT source, status FROM warehouse.order_event WHERE source = 'event' ORDER BY updated_at"
    assert [row[1] for row in world.rows(result)] == ["RECEIVED", "READY_FOR_PICKUP"]


@pytest.mark.slow
def test_what_customers_and_logistics_cancel_reaches_the_store_as_cancelled(orders: Orders) -> None:
    case = CASES[0]
    by = {who: orders.place(case)["order_id"] for who in ("CUSTOMER", "LOGISTICS")}
    orders.world.platform.until_quiescent()
    orders.world.run("orders_fulfilment")
    for who, order_id in by.items():
        orders.world.platform.control("POST", f"orders/{order_id}/cancel", {"by": who, "reason": "CLOSED"})
    orders.world.platform.until_quiescent()
    orders.world.run("orders_fulfilment")
    assert {paper["order_id"] for paper in orders.papers() if paper["kind"] == "cancelled"} == set(by.values())
    rows = orders.world.rows("SELECT order_id, status, cancelled_by FROM warehouse.customer_order")
    assert {(order_id, status, who) for order_id, status, who in rows} == {
        (order_id, "CANCELLED", who) for who, order_id in by.items()
    }


@pytest.mark.slow
def test_a_run_with_nothing_to_do_succeeds_without_a_question(orders: Orders) -> None:
    run = orders.world.run("orders_fulfilment")
    assert set.union(*states(run).values()) == {"success"}
    assert [one["operation"] for one in orders.world.platform.journal()["entries"]] == []


@pytest.mark.slow
def test_an_order_without_an_event_is_found_in_the_history_and_handed_over(orders: Orders) -> None:
    orders.place(CASES[0])
    orders.world.platform.until_quiescent()
    orders.world.run("orders_fulfilment")
    orders.world.platform.faults({"at": "order_webhook", "kind": "lost"})
    lost = orders.place(CASES[0], placed_at=ago(60))["order_id"]
    run = orders.world.run("orders_history")
    assert set.union(*states(run).values()) == {"success"}
    orders.world.run("orders_fulfilment")
    assert lost in {paper["order_id"] for paper in orders.papers()}


@pytest.mark.slow
def test_wrong_credentials_fail_the_run_and_leave_every_order_as_it_is(
    orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = orders.place(CASES[0])
    orders.world.platform.until_quiescent()
    orders.world.run("orders_fulfilment")
    orders.report_picking(CASES[0], order)
    with monkeypatch.context() as wrong:
        wrong.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", "not it")
        run = orders.world.run("orders_fulfilment")
    assert (run.state, states(run)["fulfil"], states(run)["watch"]) == ("failed", {"failed"}, {"failed"})
    assert orders.platform_status()[order["order_id"]] == "RECEIVED"
    for _ in range(2):
        orders.world.run("orders_fulfilment")
        orders.world.platform.until_quiescent()
    assert orders.platform_status()[order["order_id"]] == "READY_FOR_PICKUP"


@pytest.mark.slow
def test_the_trigger_fires_when_something_waits_and_again_only_for_something_new(orders: Orders) -> None:
    import asyncio

    from shelfsync_airflow.order_tasks import WaitingOrdersTrigger

    async def fired() -> list[int]:
        path, arguments = WaitingOrdersTrigger().serialize()
        assert (path.rsplit(".", 1)[1], arguments) == ("WaitingOrdersTrigger", {"chain": None})
        result = []
        run = WaitingOrdersTrigger().run()
        for count in (1, 2):
            await asyncio.to_thread(orders.place, CASES[0])
            event = await asyncio.wait_for(anext(run), 30)
            result.append(event.payload["waiting"])
            assert result[-1] == count
        await run.aclose()
        return result

    assert asyncio.run(fired()) == [1, 2]


@pytest.mark.slow
def test_without_a_channel_to_the_stores_the_first_order_fails_watch_once_with_the_reason(
    orders: Orders, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHELFSYNC_ORDERS__HAND_OVER")
    order = orders.place(Case("first", ("MILK",), (), "RECEIVED"))
    world.platform.until_quiescent()
    first = world.run("orders_fulfilment")
    assert states(first)["watch"] == {"failed"}
    assert orders.platform_status() == {order["order_id"]: "RECEIVED"}
    why = world.rows("SELECT message FROM ledger.alert WHERE closed_at IS NULL")
    assert why[0][0].startswith("1 open orders reach no store: no way to the stores is set")
    assert states(world.run("orders_fulfilment"))["watch"] == {"success"}
