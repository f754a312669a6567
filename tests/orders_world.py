"""Orders between the live platform, our receiver and a store: what a customer, the platform and a picker do, in the words of the tests."""

from __future__ import annotations

import datetime as dt
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import sqlalchemy as sa
from pydantic import SecretStr

from order_desk import ASSORTMENT, STORE
from shelfsync.inbox.secret import StoreSecrets

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox_fixture import LiveSandbox
    from shelfsync.wiring import House

SECRET = "canary-webhook-1"
PICKING_KEY = "canary-picking-till"
PICKING_SECRET = StoreSecrets(SecretStr(PICKING_KEY)).of(STORE)
KEY = "a long key that only this chain has"
PHONE = "+447700900123"


@dataclass
class OrdersWorld:
    """The house, the platform with the order desk's assortment, our receiver, and a folder in which the store finds its orders."""

    house: House
    platform: LiveSandbox
    receiver_url: str
    folder: Path
    till: httpx.Client = field(
        default_factory=lambda: httpx.Client(trust_env=False, headers={"Authorization": PICKING_SECRET})
    )

    def furnish(self, *vendors: str) -> None:
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

    def heard(self) -> None:
        """Every event that is due has been delivered, and taken."""
        self.platform.until_settled()
        self.house.orders.take()

    def say(self, order: dict[str, Any], action: str = "fulfil", *lines: dict[str, Any], **more: Any) -> httpx.Response:
        """The till's word, over HTTP."""
        body = {"action": action, **({"items": list(lines)} if lines else {}), **more}
        return self.till.post(f"{self.receiver_url}/picking/{order['order_id']}", json=body)

    def told(self, order: dict[str, Any]) -> list[dict[str, Any]]:
        return self.till.get(f"{self.receiver_url}/picking/{order['order_id']}").json().get("results", [])

    def began_long_ago(self) -> None:
        """The first event ever came an hour before it did."""
        with self.house.parts.engine.begin() as connection:
            connection.execute(sa.text("UPDATE ledger.order_version SET seen_at = seen_at - interval '1 hour'"))

    def tick(self) -> dict[str, Any]:
        """One run of the minute's steps."""
        orders = self.house.orders
        return {
            "take": orders.take(),
            "collect": orders.collect(),
            "fulfil": orders.fulfil(),
            "hand_over": orders.hand_over(),
        }

    def until(self, order: dict[str, Any], state: str, deadline_s: float = 20.0) -> dict[str, Any]:
        """Ticks until the last result of the order is so far."""
        end = time.monotonic() + deadline_s
        while True:
            self.tick()
            last = self.house.orders.results(order["order_id"])[-1]
            if last["state"] == state:
                return last
            assert time.monotonic() < end, last
            time.sleep(0.02)

    def shown(self, order: dict[str, Any]) -> dict[str, Any]:
        """The order on the platform."""
        with self.platform.partner() as partner:
            return partner.get(f"/v2/chains/demo-chain/orders/{order['order_id']}").json()

    def papers(self) -> list[dict[str, Any]]:
        """What lies in the store's folder."""
        return [json.loads(file.read_text()) for file in sorted(self.folder.glob("*/*.json"))]

    def puts(self, order: dict[str, Any]) -> int:
        """Order PUTs that reached the platform, UPDATE_CART too."""
        entries = self.platform.journal()["entries"]
        return len([one for one in entries if one["operation"] == "put_order" and order["order_id"] in one["route"]])

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self.house.parts.engine.connect() as connection:
            return list(connection.execute(sa.text(statement), values).all())


def ago(seconds: float) -> str:
    """So long ago, as the platform writes it."""
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
