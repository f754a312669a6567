"""The same from the rules alone (docs/explanation/data-path.md), a dictionary a row: slow, and written without looking at the fast path.

What is benchmarked has to give these bytes; a figure of something wrong is worth nothing.
"""

from __future__ import annotations

import json
import zlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa


FIELDS = ("price", "quantity", "active", "max_sales_quantity")
DIFFERS = " OR ".join(f"(n.{name} IS NOT NULL AND n.{name} IS DISTINCT FROM b.{name})" for name in FIELDS)
NAMES = {**{name: name for name in FIELDS}, "max_sales_quantity": "maximum_sales_quantity"}
Row = dict[str, Any]


def changes(snapshot: pa.Table, baseline: pa.Table, *, full: bool = False) -> dict[str, tuple[str, Row]]:
    """For each SKU of the delta, in byte order: the kind of change, and the fields that are sent."""
    now = {row["sku"]: row for row in snapshot.to_pylist()}
    before = {row["sku"]: row for row in baseline.to_pylist()}
    found: dict[str, tuple[str, Row]] = {}
    for sku in sorted(now.keys() | before.keys(), key=str.encode):
        old = before.get(sku, {})
        if sku not in now:
            if full or old["active"] is not False:
                found[sku] = ("same" if old["active"] is False else "removed", {"active": False})
            continue
        values = {name: now[sku][name] for name in FIELDS if now[sku][name] is not None}
        changed = {name: value for name, value in values.items() if old.get(name) != value}
        sent = dict(values) if full else dict(changed)
        if not sent:
            continue
        found[sku] = ("new" if sku not in before else "changed" if changed else "same", _accompanied(sent, old))
    if len(found) == 1:  # in a request of one item a quantity switches nothing off
        ((sku, (_, only)),) = found.items()
        flag = before.get(sku, {}).get("active")
        if "quantity" in only and "active" not in only and flag is not None:
            only["active"] = flag
    return found


def _accompanied(sent: Row, old: Row) -> Row:
    """`active` true is sent with the known quantity; a quantity of an inactive product with `active` false."""
    sent = dict(sent)
    if sent.get("active") is True and sent.get("quantity") is None and old.get("quantity") is not None:
        sent["quantity"] = old["quantity"]
    elif sent.get("quantity") is not None and sent.get("active", old.get("active")) is False:
        sent["active"] = False
    return sent


def items(found: dict[str, tuple[str, Row]]) -> list[Row]:
    """As they stand in a body."""
    return [
        {"sku": sku, **{NAMES[name]: sent[name] for name in FIELDS if name in sent}} for sku, (_, sent) in found.items()
    ]


def bodies(found: dict[str, tuple[str, Row]], body_max_bytes: int) -> list[bytes]:
    """The requests, each as long as it can be."""
    texts = [_text(item) for item in items(found)]
    cut: list[list[str]] = []
    room = 0
    for text in texts:
        size = len(text.encode())
        if not cut or size + 1 > room:
            cut.append([])
            room = body_max_bytes - len('{"products":[]}') + 1
        cut[-1].append(text)
        room -= size + 1
    return [('{"products":[' + ",".join(part) + "]}").encode() for part in cut]


def _text(item: Row) -> str:
    """One item without spaces; a price as the shortest text of its decimal."""
    members = []
    for name, value in item.items():
        text = _plain(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
        members.append(f'"{name}":{text}')
    return "{" + ",".join(members) + "}"


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def checksum(bodies: Iterable[bytes]) -> str:
    """Of the items of all bodies, in their order."""
    found = 0
    for body in bodies:
        for item in json.loads(body, parse_float=Decimal, parse_int=Decimal)["products"]:
            values = sorted(
                (name, format(value.normalize(), "f") if isinstance(value, Decimal) else str(value))
                for name, value in item.items()
            )
            found = zlib.crc32(json.dumps(values).encode(), found)
    return f"{found:08x}"
