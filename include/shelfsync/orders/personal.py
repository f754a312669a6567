"""An order in two parts: what may be kept, shown and counted, and everything else, which may tell of a person.

The parting is a list of what is known to be harmless. A field that nobody foresaw counts as personal: the interface does not even
show the name of the field that holds the phone number (interface.md 2.5). What customers write by hand is personal too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLAT = frozenset(
    {
        "order_id", "external_order_id", "order_code", "transport_type", "order_type", "status", "promised_for", "accepted_for",
        "store_id", "external_partner_config_id", "chain_id", "sub_total", "order_total", "confirmed_amount", "created_at", "updated_at",
    }
)  # fmt: skip
_CLIENT = frozenset({"id", "chain_id", "country_code", "store_id", "external_partner_config_id"})
_PAYMENT = frozenset({"type", "sub_total", "order_total", "delivery_fee", "service_fee", "discount"})
_SYSTEM = frozenset({"created_at", "updated_at"})
_ITEM = frozenset({"_id", "sku", "name", "status", "replaced_id"})
_PRICING = frozenset(
    {
        "pricing_type", "quantity", "unit_price", "total_price", "list_price", "min_quantity", "max_quantity", "weight",
    }
)  # fmt: skip
_PROMOTION = frozenset({"name", "type", "discount_amount"})
_SPONSORSHIP = frozenset({"sponsor", "amount"})
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
"""A reason that is a code of somebody's list, and no sentence of a customer's."""


def parted(raw: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(harmless, personal) of an order's body as it was parsed; the two hold every field between them."""
    kept = _plain(raw, _FLAT)
    for name, known in (("client", _CLIENT), ("payment", _PAYMENT), ("sys", _SYSTEM)):
        if isinstance(raw.get(name), dict):
            kept[name] = _plain(raw[name], known)
    if isinstance(raw.get("items"), list):
        kept["items"] = [_item(entry) for entry in raw["items"] if isinstance(entry, dict)]
    if isinstance(raw.get("cancellation"), dict):
        kept["cancellation"] = {
            name: value
            for name in ("reason", "cancelled_by")
            if isinstance(value := raw["cancellation"].get(name), str) and _CODE.fullmatch(value)
        }
    return kept, _rest(raw, kept)


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = _plain(entry, _ITEM)
    for name in ("pricing", "original_pricing"):
        if isinstance(entry.get(name), dict):
            kept[name] = _plain(entry[name], _PRICING)
    if isinstance(entry.get("promotion"), list):
        kept["promotion"] = [_promotion(one) for one in entry["promotion"] if isinstance(one, dict)]
    return kept


def _promotion(entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = _plain(entry, _PROMOTION)
    if isinstance(entry.get("sponsorships"), list):
        kept["sponsorships"] = [_plain(one, _SPONSORSHIP) for one in entry["sponsorships"] if isinstance(one, dict)]
    return kept


def _plain(raw: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Those of the fields that hold a word, a number or a truth value; an object under a known name is no known field."""
    return {name: value for name, value in raw.items() if name in names and not isinstance(value, dict | list)}


def _rest(raw: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """What the whole has and the kept part has not, in its place; items are never personal as a whole."""
    rest: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in kept:
            rest[name] = value
        elif isinstance(value, dict) and (inner := _rest(value, kept[name])):
            rest[name] = inner
        elif name == "items":
            left = [_rest(one, part) for one, part in zip(_objects(value), kept[name], strict=True)]
            rest |= {"items": left} if any(left) else {}
    return rest


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)]
