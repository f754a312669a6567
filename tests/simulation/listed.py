"""What the platform's listing has shown, heard on the wire by somebody who stands beside it: the other proof there is of a value (I2)."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    import httpx

SHOWN = ("price", "active")
"""The fields that a listing shows; of the others it proves nothing."""


class Listed:
    """Every product of every answer that came to its end, with the instant at which it was heard."""

    def __init__(self, now: Callable[[], dt.datetime]) -> None:
        self._now = now
        self._heard: dict[tuple[str, str], list[tuple[dt.datetime, dict[str, Any]]]] = defaultdict(list)

    def hear(self, request: httpx.Request, status: int, raw: bytes) -> None:
        """An answer as it came."""
        *_, vendors, vendor, last = ("", "", *request.url.path.split("/"))
        if (request.method, vendors, last, status) != ("GET", "vendors", "catalog", 200):
            return
        try:
            products = json.loads(raw, parse_float=Decimal)["products"]
            shown = {product["sku"]: _values(product) for product in products}
        except (ValueError, KeyError, TypeError, ArithmeticError):
            return  # a fault has spoiled it
        for sku, values in shown.items():
            self._heard[vendor, sku].append((self._now(), values))

    def proves(self, vendor: str, sku: str, said: dict[str, Any], since: dt.datetime) -> bool:
        """Whether one product was shown with all these values (price in thousandths) after they were sent."""
        return any(
            heard >= since and all(name in SHOWN and values[name] == value for name, value in said.items())
            for heard, values in self._heard[vendor, sku]
        )


def _values(product: dict[str, Any]) -> dict[str, Any]:
    price = product.get("price")
    return {"price": None if price is None else int(Decimal(price) * 1000), "active": product.get("active")}
