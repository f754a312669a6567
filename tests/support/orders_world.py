"""Orders between the live platform, the receiver and a store: what a customer, the platform and a picker do."""

from __future__ import annotations

import datetime as dt
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import sqlalchemy as sa
from pydantic import SecretStr

from order_picker import ASSORTMENT, STORE
from partner_sandbox.running import NO_TLS
from shelfsync.receiver.secret import StoreSecrets

if TYPE_CHECKING:
    from pathlib import Path

    from app_calls import Calls
    from sandbox_fixture import LiveSandbox

SECRET = "canary-webhook-1"
PICKING_KEY = "canary-picking-till"
PICKING_SECRET = StoreSecrets(SecretStr(PICKING_KEY)).of(STORE)
KEY = "a long key that only this chain has"
PHONE = "+447700900123"


def change(world: OrdersWorld, *statements: str, **values: Any) -> None:
    """Changes the tables, all in one transaction: mostly to make something older."""
    with world.app.context.engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement), values)


@dataclass
class OrdersWorld:
    """shelfsync, the platform with the order picker's assortment, the receiver, and a folder in which the store finds its orders."""

    app: Calls
    platform: LiveSandbox
    receiver_url: str
    folder: Path
    till: httpx.Client = field(
        default_factory=lambda: httpx.Client(trust_env=False, verify=NO_TLS, headers={"Authorization": PICKING_SECRET})
    )

    def set_up(self, *vendors: str) -> None:
        for vendor in vendors or (STORE,):
            self.platform.put_products(vendor, ASSORTMENT)
        self.platform.put_webhook(order_url=f"{self.receiver_url}/webhook", secret=SECRET)

    def place(
        self, *lines: str | dict[str, Any], vendor: str = STORE, ago_s: float = 0, **options: Any
    ) -> dict[str, Any]:
        if ago_s:
            options["placed_at"] = ago(ago_s)
        items = [{"sku": line, "quantity": 1} if isinstance(line, str) else line for line in lines]
        return self.platform.control("POST", f"chains/demo-chain/vendors/{vendor}/orders", {"items": items, **options})

    def send_event(self, body: dict[str, Any]) -> None:
        """An event that the platform does not send by itself; it is stored."""
        answer = httpx.post(
            f"{self.receiver_url}/webhook/orders",
            content=json.dumps(body),
            headers={"Authorization": SECRET},
            trust_env=False,
        )
        assert answer.status_code == 200, answer.text

    def receive_events(self) -> None:
        """The platform delivers every due event, and `take` applies them."""
        self.platform.until_quiescent()
        self.app.orders.take()

    def report(
        self, order: dict[str, Any], action: str = "fulfil", *lines: dict[str, Any], **more: Any
    ) -> httpx.Response:
        """The store posts a picking result."""
        body = {"action": action, **({"items": list(lines)} if lines else {}), **more}
        return self.till.post(f"{self.receiver_url}/picking/{order['order_id']}", json=body)

    def results(self, order: dict[str, Any]) -> list[dict[str, Any]]:
        return self.till.get(f"{self.receiver_url}/picking/{order['order_id']}").json().get("results", [])

    def backdate_first_event(self) -> None:
        """Moves the time of the first event back by an hour."""
        with self.app.context.engine.begin() as connection:
            connection.execute(sa.text("UPDATE ledger.order_version SET seen_at = seen_at - interval '1 hour'"))

    def tick(self) -> dict[str, Any]:
        """One run of the minute's steps."""
        orders = self.app.orders
        return {
            "take": orders.take(),
            "collect": orders.collect(),
            "fulfil": orders.fulfil(),
            "hand_over": orders.hand_over(),
        }

    def until(self, order: dict[str, Any], state: str, deadline_s: float = 20.0) -> dict[str, Any]:
        """Ticks until the last result of the order has this state."""
        end = time.monotonic() + deadline_s
        while True:
            self.tick()
            last = self.app.orders.results(order["order_id"])[-1]
            if last["state"] == state:
                return last
            assert time.monotonic() < end, last
            time.sleep(0.02)

    def shown(self, order: dict[str, Any]) -> dict[str, Any]:
        """The order as the platform has it."""
        with self.platform.partner() as partner:
            return partner.get(f"/v2/chains/demo-chain/orders/{order['order_id']}").json()

    def documents(self) -> list[dict[str, Any]]:
        """The documents in the store's folder."""
        return [json.loads(file.read_text()) for file in sorted(self.folder.glob("*/*.json"))]

    def puts(self, order: dict[str, Any]) -> int:
        """Order PUTs that reached the platform, UPDATE_CART too."""
        entries = self.platform.journal()["entries"]
        return len([one for one in entries if one["operation"] == "put_order" and order["order_id"] in one["route"]])

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self.app.context.engine.connect() as connection:
            return list(connection.execute(sa.text(statement), values).all())


def ago(seconds: float) -> str:
    """An instant in the past, in the platform's format."""
    return (dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def picked(sku: str, **more: Any) -> dict[str, Any]:
    return {"sku": sku, "status": "picked", **more}


def not_found(sku: str, **more: Any) -> dict[str, Any]:
    return {"sku": sku, "status": "not_found", **more}


def replaced(sku: str, by: str, **more: Any) -> dict[str, Any]:
    return {
        "sku": sku,
        "status": "replaced",
        "replaced_by": {"sku": by, **({} if "weight" in more else {"quantity": 1}), **more},
    }


def added(sku: str, **more: Any) -> dict[str, Any]:
    return {"sku": sku, "status": "added", **more}
