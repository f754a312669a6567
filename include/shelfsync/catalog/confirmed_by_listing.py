"""A job without a log may end by the platform's listing, an observation newer than the sending (I2).

The listing shows price and availability only, so it confirms only items without any other field. A difference proves nothing: the listing
shows a change late. Nor does a match prove anything if the listing may still show an older, equal value.
"""

from __future__ import annotations

import json
from decimal import ROUND_DOWN, Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import display
from shelfsync.rows.alignment import column
from shelfsync.schemas import FIELDS, LOG

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from shelfsync.catalog.outcome import Key

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
    mask = pa.repeat(pa.scalar(True), items.num_rows)
    for name in FIELDS:
        if name not in PROVABLE:
            mask = pc.and_(mask, items[name].combine_chunks().is_null())
    return items.filter(mask)


def perhaps_older(items: pa.Table, before: pa.Table, sent: pa.Table) -> dict[str, set[str]]:
    """Field of PROVABLE -> the SKUs of `items` whose listing may still show an older value that equals the one sent.

    `sent`: SENDING schema, oldest first, what was sent before `items` within the time that a change needs to show. `before`: BASELINE
    schema, what was acknowledged before the first of it. A value is perhaps an older one if another value was sent after it.
    """
    wanted = {row["sku"]: row for row in items.select(["sku", *PROVABLE]).to_pylist()}
    earlier = before.filter(pc.is_in(column(before, "sku"), value_set=column(items, "sku")))
    found: dict[str, set[str]] = {name: set() for name in PROVABLE}
    for name in PROVABLE:
        held = dict(zip(earlier["sku"].to_pylist(), earlier[name].to_pylist(), strict=True))
        seen = {sku for sku, value in held.items() if value is not None and value == wanted[sku][name]}
        for row in sent.select(["sku", "state", "quantity", *PROVABLE]).to_pylist():
            sku, value = row["sku"], row[name]
            by_quantity = name == "active" and row["quantity"] is not None
            if row["state"] == "rejected" or sku not in wanted or (value is None and not by_quantity):
                continue
            if value == wanted[sku][name] and not by_quantity:
                seen.add(sku)
            elif sku in seen:
                found[name].add(sku)
    return found


def listing_lines(
    items: pa.Table,
    shown: Iterable[Shown],
    key: Key = "sku",
    *,
    perhaps_older: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> pa.Table:
    """LOG lines for the provable items that the listing shows: accepted where every value sent is what it shows, else unaccounted.

    A price is compared as the platform keeps it, cut to three decimals; barcodes are compared with their padding. `perhaps_older`: field ->
    the SKUs whose match proves nothing.
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
            unproven = [name for name in PROVABLE if item["sku"] in perhaps_older.get(name, ())]
            rows.append(_line(item, by[called], unproven))
    return pa.Table.from_pylist(rows, schema=LOG)


def _line(item: dict[str, Any], seen: Shown, unproven: list[str]) -> dict[str, Any]:
    has = {"price": _cut(seen.price), "active": seen.active}
    differs = [name for name in PROVABLE if item[name] is not None and item[name] != has[name]]
    texts = {name: None if has[name] is None else str(has[name]) for name in PROVABLE}
    reasons = [
        f"the listing shows {name} {display.value(name, has[name])}, sent was {display.value(name, item[name])}"
        for name in differs
    ]
    reasons += [
        f"the listing may still show {name} {display.value(name, item[name])} from before, as another value was sent in between"
        for name in unproven
        if item[name] is not None and name not in differs
    ]
    return {
        "sku": item["sku"],
        "barcode": item["barcode"],
        "state": "unaccounted" if reasons else "accepted",
        "reason": "; ".join(reasons) or None,
        "raw": json.dumps({"listing": {"sku": seen.sku, **texts}}, ensure_ascii=False),
    }


def _cut(price: Decimal | None) -> Decimal | None:
    """The price as the platform keeps it; None for a number that is no price, of any magnitude."""
    return None if price is None or price.adjusted() > _PRICE_DIGITS else price.quantize(_MILL, ROUND_DOWN)


def _padded(barcode: str) -> str | None:
    return barcode.zfill(_DIGITS) if barcode.isascii() and barcode.isdigit() and len(barcode) <= _DIGITS else None
