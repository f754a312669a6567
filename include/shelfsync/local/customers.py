"""Simulates customers and riders: orders in the sandbox now and then, cancels a few orders, picks up those that are ready.

`python -m shelfsync.local.customers`, started by `make up` with the sample; `SHELFSYNC_LOCAL__CUSTOMER_INTERVAL_S=0` switches it off.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ShelfsyncError
from shelfsync.file_access import keep_private
from shelfsync.local.sandbox_control import SandboxControl, SandboxRejectedError
from shelfsync.secret_mask import mask_streams

if TYPE_CHECKING:
    from collections.abc import Sequence

ITEMS_MAX = 4
PIECES_MAX = 2
CANCELLED_SHARE = 0.05
REJECTED_MAX = 5
SHELF_S = 600.0
"""How long a customer uses a list that the app showed. If a product is off sale by then, the order is rejected, and another follows."""
FOLLOWED_S = 7200.0
LOOK_EVERY_S = 1.0
FOLLOW_EVERY_S = 5.0
_WAYS: Sequence[tuple[str, str]] = (
    ("LOGISTICS_DELIVERY", "DELIVERY"),
    ("LOGISTICS_DELIVERY", "DELIVERY"),
    ("VENDOR_DELIVERY", "DELIVERY"),
    ("LOGISTICS_DELIVERY", "PICKUP"),
)


@dataclass
class _Placed:
    """An order that its customer waits for."""

    order_id: str
    at_s: float
    by_rider: bool
    is_cancelled: bool


class Customers:
    """All customers of the chain. No more than `orders_max` orders; the same seed orders the same way."""

    def __init__(self, sandbox: SandboxControl, *, orders_max: int, seed: int | None = None) -> None:
        self._sandbox = sandbox
        self._left = orders_max
        self._chance = Random(seed)  # noqa: S311  nothing secret
        self._placed: list[_Placed] = []
        self._shelves: dict[str, tuple[float, list[str]]] = {}

    @property
    def waiting(self) -> int:
        """The number of orders that are followed."""
        return len(self._placed)

    def order(self) -> dict[str, Any] | None:
        """One order at one store; None if nothing can be ordered now, or the bound is reached."""
        if self._left <= 0 or not (vendors := self._sandbox.open_vendors()):
            return None
        vendor = self._chance.choice(vendors)
        transport, kind = self._chance.choice(_WAYS)
        for _ in range(REJECTED_MAX):
            shelf = self._shelf(vendor)
            if not shelf:
                return None
            chosen = self._chance.sample(shelf, min(len(shelf), self._chance.randint(1, ITEMS_MAX)))
            items = [{"sku": sku, "quantity": self._chance.randint(1, PIECES_MAX)} for sku in chosen]
            try:
                placed = self._sandbox.place_order(vendor, items, transport_type=transport, order_type=kind)
            except SandboxRejectedError:
                self._shelves.pop(vendor, None)  # look again
                continue
            self._left -= 1
            self._placed.append(
                _Placed(
                    placed["order_id"],
                    time.monotonic(),
                    by_rider=transport == "LOGISTICS_DELIVERY" and kind == "DELIVERY",
                    is_cancelled=self._chance.random() < CANCELLED_SHARE,
                )
            )
            return {"vendor": vendor, **placed}
        return None

    def follow(self) -> None:
        """Takes one step for every placed order; an order that is not ready yet waits for the next call."""
        for order in list(self._placed):
            steps = ["cancel"] if order.is_cancelled else [*(["dispatch"] if order.by_rider else []), "pick-up"]
            try:
                for step in steps:
                    self._sandbox.move_order(order.order_id, step)
                    order.by_rider = False
            except SandboxRejectedError:
                if not order.is_cancelled and time.monotonic() - order.at_s < FOLLOWED_S:
                    continue
            self._placed.remove(order)

    def _shelf(self, vendor: str) -> list[str]:
        """The SKUs of a store of which a customer may order some pieces."""
        read_s, skus = self._shelves.get(vendor, (0.0, []))
        if not skus or time.monotonic() - read_s > SHELF_S:
            skus = [
                product["sku"]
                for product in self._sandbox.products(vendor)
                if product["app"]["active"] and (product["app"]["max_sales_quantity"] or PIECES_MAX) >= PIECES_MAX
            ]
            self._shelves[vendor] = (time.monotonic(), skus)
        return skus


def _echo(text: str) -> None:
    print(f"customers  {text}", flush=True)  # noqa: T201  its log


def main() -> int:
    """Runs until it is stopped; waits while the sandbox is unavailable."""
    keep_private()
    mask_streams()
    from shelfsync.settings import read_settings

    try:
        settings = read_settings()
    except ShelfsyncError as error:
        _echo(str(error))
        return error.exit_code
    local = settings.local
    assert settings.platform.base_url
    customers = Customers(SandboxControl(settings.platform.base_url), orders_max=local.customer_orders_max)
    next_order_s = next_look_s = time.monotonic()
    while True:
        time.sleep(LOOK_EVERY_S)
        now_s = time.monotonic()
        try:
            if now_s >= next_order_s and (placed := customers.order()):
                next_order_s = now_s + local.customer_interval_s
                _echo(f"order {placed['order_id']} at {placed['vendor']}, {len(placed['items'])} items")
            if now_s >= next_look_s:
                next_look_s = now_s + FOLLOW_EVERY_S
                customers.follow()
        except ShelfsyncError as error:
            _echo(str(error))
            next_order_s = next_look_s = now_s + FOLLOW_EVERY_S


if __name__ == "__main__":
    sys.exit(main())
