"""readback: what a listing proves of a job without a status and without a log (I2: by a matching observation).

The listing shows price and availability, neither quantity nor sales limit (field notes, Listing). So it can confirm only items that have no
other field. A difference proves nothing: the platform may still be working.
"""

from __future__ import annotations

import json
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa

from shelfsync.schemas import FIELDS, LOG

if TYPE_CHECKING:
    from collections.abc import Iterable

Key = Literal["sku", "barcode"]

PROVABLE = ("price", "active")
_MILL = Decimal("0.001")
_DIGITS = 14
_PRICE_DIGITS = 17
"""Before the point, as in schemas.PRICE."""


class Shown(NamedTuple):
    """One product of the listing."""

    sku: str | None
    barcodes: tuple[str, ...]
    price: Decimal | None
    active: bool | None


def provable(items: pa.Table) -> pa.Table:
    """The items (DELTA schema) that a listing can confirm."""
    import pyarrow.compute as pc

    mask = pa.repeat(pa.scalar(True), items.num_rows)
    for name in FIELDS:
        if name not in PROVABLE:
            mask = pc.and_(mask, items[name].combine_chunks().is_null())
    return items.filter(mask)


def lines(items: pa.Table, shown: Iterable[Shown], key: Key = "sku") -> pa.Table:
    """LOG lines for the provable items that the listing shows: accepted where every value sent is what it shows, else unaccounted.

    A price is compared as the platform keeps it, cut to three decimals; barcodes are compared with their padding.
    """
    by: dict[str, Shown] = {}
    for one in shown:
        names = (one.sku,) if key == "sku" else tuple(_padded(barcode) for barcode in one.barcodes)
        for name in names:
            if name is not None:
                by.setdefault(name, one)
    rows = []
    for item in provable(items).to_pylist():
        called = item["sku"] if key == "sku" else _padded(item["barcode"] or "")
        if called is not None and called in by:
            rows.append(_line(item, by[called]))
    return pa.Table.from_pylist(rows, schema=LOG)


def _line(item: dict[str, Any], seen: Shown) -> dict[str, Any]:
    has = {"price": _cut(seen.price), "active": seen.active}
    differs = [name for name in PROVABLE if item[name] is not None and item[name] != has[name]]
    texts = {name: None if has[name] is None else str(has[name]) for name in PROVABLE}
    why = "; ".join(f"the listing shows {name} {texts[name]}, sent was {item[name]}" for name in differs)
    return {
        "sku": item["sku"],
        "barcode": item["barcode"],
        "state": "unaccounted" if differs else "accepted",
        "reason": why or None,
        "raw": json.dumps({"listing": {"sku": seen.sku, **texts}}, ensure_ascii=False),
    }


def _cut(price: Decimal | None) -> Decimal | None:
    """The price as the platform keeps it; None for a number that is no price, of any magnitude."""
    return None if price is None or price.adjusted() > _PRICE_DIGITS else price.quantize(_MILL, ROUND_DOWN)


def _padded(barcode: str) -> str | None:
    return barcode.zfill(_DIGITS) if barcode.isascii() and barcode.isdigit() and len(barcode) <= _DIGITS else None
