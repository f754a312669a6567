"""Splits an order into a harmless part, which may be stored and shown, and a personal part, which may identify a customer.

A list names the harmless fields. Every other field is personal: the interface does not even show the name of the field that
holds the phone number (interface.md 2.5). Free text of customers is personal too.
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
"""A reason that is a code, not a customer's sentence."""


def split_personal_data(raw: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(harmless, personal) of the parsed body of an order. Each field is in at least one of the two."""
    harmless = _plain(raw, _FLAT)
    for name, known in (("client", _CLIENT), ("payment", _PAYMENT), ("sys", _SYSTEM)):
        if isinstance(raw.get(name), dict):
            harmless[name] = _plain(raw[name], known)
    if isinstance(raw.get("items"), list):
        harmless["items"] = [_item(entry) for entry in raw["items"] if isinstance(entry, dict)]
    if isinstance(raw.get("cancellation"), dict):
        harmless["cancellation"] = {
            name: value
            for name in ("reason", "cancelled_by")
            if isinstance(value := raw["cancellation"].get(name), str) and _CODE.fullmatch(value)
        }
    return harmless, _rest(raw, harmless)


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    harmless = _plain(entry, _ITEM)
    for name in ("pricing", "original_pricing"):
        if isinstance(entry.get(name), dict):
            harmless[name] = _plain(entry[name], _PRICING)
    if isinstance(entry.get("promotion"), list):
        harmless["promotion"] = [_promotion(element) for element in entry["promotion"] if isinstance(element, dict)]
    return harmless


def _promotion(entry: Mapping[str, Any]) -> dict[str, Any]:
    harmless = _plain(entry, _PROMOTION)
    if isinstance(entry.get("sponsorships"), list):
        harmless["sponsorships"] = [
            _plain(element, _SPONSORSHIP) for element in entry["sponsorships"] if isinstance(element, dict)
        ]
    return harmless


def _plain(raw: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The known fields that hold text, a number or a boolean. An object under a known name is not a known field."""
    return {name: value for name, value in raw.items() if name in names and not isinstance(value, dict | list)}


def _rest(raw: Mapping[str, Any], harmless: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the whole that the kept part lacks, at the same path. An item as a whole is never personal."""
    rest: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in harmless:
            rest[name] = value
        elif isinstance(value, dict) and (inner := _rest(value, harmless[name])):
            rest[name] = inner
        elif name == "items":
            left = [_rest(element, part) for element, part in zip(_objects(value), harmless[name], strict=True)]
            rest |= {"items": left} if any(left) else {}
    return rest


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)]
