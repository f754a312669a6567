"""A stand-in for customers and riders: orders in the sandbox now and then, cancels a few orders, takes along what is ready.

`python -m shelfsync.stack.customers`, started by `make up` with the sample; `SHELFSYNC_LOCAL__CUSTOMER_EVERY_S=0` switches it off.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from shelfsync.access import keep_private
from shelfsync.errors import ShelfsyncError
from shelfsync.stack.sandbox_control import RefusedByTheSandboxError, SandboxControl

if TYPE_CHECKING:
    from collections.abc import Sequence

ITEMS_MAX = 4
PIECES_MAX = 2
CANCELLED_SHARE = 0.05
REFUSED_MAX = 5
SHELF_S = 600.0
"""How long a customer goes by what the app showed; what is off sale by then is refused, and something else is ordered."""
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
        """Orders that are followed."""
        return len(self._placed)

    def order(self) -> dict[str, Any] | None:
        """One order at one store; None where nothing can be ordered now, or the bound is reached."""
        if self._left <= 0 or not (vendors := self._sandbox.open_vendors()):
            return None
        vendor = self._chance.choice(vendors)
        transport, kind = self._chance.choice(_WAYS)
        for _ in range(REFUSED_MAX):
            shelf = self._shelf(vendor)
            if not shelf:
                return None
            chosen = self._chance.sample(shelf, min(len(shelf), self._chance.randint(1, ITEMS_MAX)))
            items = [{"sku": sku, "quantity": self._chance.randint(1, PIECES_MAX)} for sku in chosen]
            try:
                placed = self._sandbox.place_order(vendor, items, transport_type=transport, order_type=kind)
            except RefusedByTheSandboxError:
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
        """One step for every order that is waited for; what is not ready yet is left for the next time."""
        for one in list(self._placed):
            steps = ["cancel"] if one.is_cancelled else [*(["dispatch"] if one.by_rider else []), "pick-up"]
            try:
                for step in steps:
                    self._sandbox.move_order(one.order_id, step)
                    one.by_rider = False
            except RefusedByTheSandboxError:
                if not one.is_cancelled and time.monotonic() - one.at_s < FOLLOWED_S:
                    continue
            self._placed.remove(one)

    def _shelf(self, vendor: str) -> list[str]:
        """The SKUs of a store of which a customer may order some pieces."""
        read_s, skus = self._shelves.get(vendor, (0.0, []))
        if not skus or time.monotonic() - read_s > SHELF_S:
            skus = [
                one["sku"]
                for one in self._sandbox.products(vendor)
                if one["app"]["active"] and (one["app"]["max_sales_quantity"] or PIECES_MAX) >= PIECES_MAX
            ]
            self._shelves[vendor] = (time.monotonic(), skus)
        return skus


def _say(text: str) -> None:
    print(f"customers  {text}", flush=True)  # noqa: T201  its log


def main() -> int:
    """Runs until it is stopped; a sandbox that is away is waited for."""
    keep_private()
    from shelfsync.settings import read_settings

    try:
        settings = read_settings()
    except ShelfsyncError as error:
        _say(str(error))
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
                next_order_s = now_s + local.customer_every_s
                _say(f"order {placed['order_id']} at {placed['vendor']}, {len(placed['items'])} items")
            if now_s >= next_look_s:
                next_look_s = now_s + FOLLOW_EVERY_S
                customers.follow()
        except ShelfsyncError as error:
            _say(str(error))
            next_order_s = next_look_s = now_s + FOLLOW_EVERY_S


if __name__ == "__main__":
    sys.exit(main())
