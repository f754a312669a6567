"""What went over the wire, as the transport records it: updates as they were sent, and what listings and exports have shown.

A value that the platform was seen to show is the other proof there is of it (I2).
"""

from __future__ import annotations

import contextlib
import csv
import gzip
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
    """Every product of every answer that came to its end, with the instant at which it was received."""

    def __init__(self, now: Callable[[], dt.datetime]) -> None:
        self._now = now
        self._received: dict[tuple[str, str], list[tuple[dt.datetime, dict[str, Any]]]] = defaultdict(list)
        self._files: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.chains: set[str] = set()
        """The platform's chains that requests have named."""
        self.bodies: list[tuple[str, bytes]] = []
        """Every update as it left, in order: (vendor, body)."""

    def leaves(self, request: httpx.Request) -> None:
        """A request in flight, with any outcome."""
        _, _, after = request.url.path.partition("/chains/")
        if after:
            self.chains.add(after.partition("/")[0])
        *_, vendors, vendor, last = ("", "", *request.url.path.split("/"))
        if (request.method, vendors, last) == ("PUT", "vendors", "catalog"):
            self.bodies.append((vendor, request.read()))

    def record(self, request: httpx.Request, status: int, raw: bytes) -> None:
        """An answer as it came."""
        *_, vendors, vendor, last = ("", "", *request.url.path.split("/"))
        if status == 200:
            self._record_export(last, raw)
        if (request.method, vendors, last, status) != ("GET", "vendors", "catalog", 200):
            return
        try:
            products = json.loads(raw, parse_float=Decimal)["products"]
            shown = {product["sku"]: _values(product) for product in products}
        except (ValueError, KeyError, TypeError, ArithmeticError):
            return  # a fault has spoiled it
        for sku, values in shown.items():
            self._received[vendor, sku].append((self._now(), values))

    def _record_export(self, name: str, raw: bytes) -> None:
        """The file of an export, known by its header; whose it is, the platform knows by the file's name."""
        with contextlib.suppress(OSError, EOFError):
            raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        lines = raw.decode("utf-8-sig", "replace").splitlines()
        if lines and lines[0].replace('"', "").startswith("sku,barcode,price,active"):
            for row in csv.DictReader(lines):
                with contextlib.suppress(ArithmeticError, ValueError, TypeError, KeyError):
                    self._files[name.partition("?")[0]].append(
                        {
                            "sku": row["sku"],
                            "price": Decimal(row["price"]),
                            "active": row["active"] == "1",
                            "max_sales_quantity": int(row["maximum_sales_quantity"]),
                        }
                    )

    def exported(self, vendor: str, files: dict[str, str]) -> set[tuple[str, str, Any]]:
        """(SKU, field, value) that exports of this vendor ever showed; `files`: of a file's name, whose it is."""
        return {
            (row["sku"], name, row[name])
            for file, rows in self._files.items()
            if files.get(file) == vendor
            for row in rows
            for name in ("price", "active", "max_sales_quantity")
        }

    def proves(self, vendor: str, sku: str, sent: dict[str, Any], since: dt.datetime) -> bool:
        """Whether one product was shown with all these values (price in thousandths) after they were sent."""
        return any(
            received_at >= since and all(name in SHOWN and values[name] == value for name, value in sent.items())
            for received_at, values in self._received[vendor, sku]
        )


def _values(product: dict[str, Any]) -> dict[str, Any]:
    price = product.get("price")
    return {"price": None if price is None else int(Decimal(price) * 1000), "active": product.get("active")}
