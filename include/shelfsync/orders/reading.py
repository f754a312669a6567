"""From the bytes of an order to a version without anybody in it, and what was taken out."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from partner_api import reading
from partner_api.models.order import Order
from shelfsync.errors import DataError
from shelfsync.orders.bounds import excess
from shelfsync.orders.personal import parted
from shelfsync.orders.state import Version

_quoted = json.encoder.encode_basestring_ascii

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.orders.state import Source


def told(raw: Mapping[str, Any], source: Source) -> tuple[Version, str, dict[str, Any]]:
    """(version, its body as JSON text, personal part) of a body parsed with exact decimals; DataError when it is no order. Never quotes it."""
    harmless, personal = parted(raw)
    if (why := excess(harmless)) is not None:
        raise DataError(f"an order cannot be kept: its {why}. Ask the platform what it means by it.")
    text = as_json(_storable(harmless))
    return kept(text, source), text, personal


def kept(text: str, source: Source) -> Version:
    """A version out of the text that was kept of it."""
    order = Order.read(reading.mapping(reading.json_or_none(text.encode())))
    if order.order_id is None:
        raise DataError("an order event names no order_id: it cannot be anybody's. It stays in the inbox, unapplied.")
    return Version(source, hashlib.sha256(text.encode()).hexdigest(), order)


def _storable(value: Any) -> Any:
    """Text that a database can hold: what is no character at all is marked as such, and nothing else is touched."""
    if isinstance(value, dict):
        return {name: _storable(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_storable(entry) for entry in value]
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return value


def as_json(value: Any) -> str:
    """JSON with exact decimals and sorted keys: equal values give equal text."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quoted(str(name))}:{as_json(value[name])}" for name in sorted(value, key=str)]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([as_json(entry) for entry in value]) + "]"
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value)
