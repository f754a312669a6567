"""The picking result of a store: accept, check, fulfil or cancel; its lines are picked, not_found, replaced or added.

A result is read strictly. An unknown field or an invalid number is reported to the sender before anything is stored. From a table, `gathered`
joins one row a line to results.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any, Literal, cast

from partner_api import json_values
from shelfsync.orders.order_state import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping


Action = Literal["accept", "check", "fulfil", "cancel"]
LineStatus = Literal["picked", "not_found", "replaced", "added"]
ACTIONS = ("accept", "check", "fulfil", "cancel")
STATUSES = ("picked", "not_found", "replaced", "added")
REASONS = ("CLOSED", "ITEM_UNAVAILABLE", "TOO_BUSY")
"""The reasons with which a partner may cancel."""
LINES_MAX = 1000
TEXT_LENGTH_MAX = 255
NUMBER_MAX = Decimal(10) ** 9
_MESSAGES_MAX = 50
_MESSAGE_LENGTH_MAX = 300
_GRAIN = Decimal("0.001")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_RESULT_FIELDS = frozenset(
    {"result_id", "order_id", "action", "items", "accepted_for", "confirmed_amount", "reason", "check_first"}
)
_LINE_FIELDS = frozenset({"item_id", "sku", "status", "quantity", "weight", "unit_price", "total_price", "replaced_by"})
_GOOD_FIELDS = frozenset({"sku", "quantity", "weight", "unit_price", "total_price"})


class UnreadableResultError(ValueError):
    """The result cannot be read. `messages`: where and why, for its sender."""

    def __init__(self, *messages: str) -> None:
        self.messages = tuple(message[:_MESSAGE_LENGTH_MAX] for message in messages[:_MESSAGES_MAX])
        super().__init__("; ".join(self.messages))


@dataclass(frozen=True, slots=True)
class Goods:
    """An amount of one product. `quantity` in pieces, `weight` in kilograms cut to grams, prices cut to three decimals."""

    sku: str | None
    quantity: Decimal | None = None
    weight: Decimal | None = None
    unit_price: Decimal | None = None
    total_price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One item of the order as it was picked, or an added product. A value that is None is as ordered."""

    status: LineStatus
    goods: Goods
    item_id: str | None = None
    replaced_by: tuple[Goods, ...] = ()


@dataclass(frozen=True, slots=True)
class PickingResult:
    """One result. Its `result_id` identifies a repeat; without one, the hash of the content does."""

    order_id: str
    action: Action
    result_id: str
    lines: tuple[Line, ...] = ()
    accepted_for: dt.datetime | None = None
    confirmed_amount: Decimal | None = None
    reason: str | None = None
    check_first: bool | None = None
    """Whether to send UPDATE_CART before the fulfilment; None: as in the settings."""


def is_order_id(text: str) -> bool:
    """Whether this is an order_id: the platform's are UUIDs, here in lower case."""
    return _UUID.fullmatch(text) is not None


def cut(number: Decimal) -> Decimal:
    """The number as a weight or an amount of a result is read: cut after three decimals, never rounded."""
    return number.quantize(_GRAIN, rounding=ROUND_DOWN)


def digest(raw: Mapping[str, Any]) -> str:
    """The hash of the content."""
    return hashlib.sha256(
        as_json({name: value for name, value in raw.items() if value is not None}).encode()
    ).hexdigest()


def read(order_id: str, raw: Mapping[str, Any]) -> PickingResult:
    """A result from JSON with exact numbers. UnreadableResultError: all errors of its form."""
    troubles: list[str] = [f"there is no field {name!r}" for name in sorted(set(map(str, raw)) - _RESULT_FIELDS)]
    order_id = order_id.strip().lower()
    if not is_order_id(order_id):
        troubles.append("order_id is no UUID")
    if raw.get("order_id") is not None and str(raw["order_id"]).strip().lower() != order_id:
        troubles.append("order_id is not the one of the address")
    action = raw.get("action")
    if action not in ACTIONS:
        troubles.append(f"action must be one of {', '.join(ACTIONS)}")
    reason = raw.get("reason")
    if reason is not None and reason not in REASONS:
        troubles.append(f"reason must be one of {', '.join(REASONS)}")
    check_first = raw.get("check_first")
    if check_first is not None and not isinstance(check_first, bool):
        troubles.append("check_first must be true or false")
    accepted_for = json_values.instant(raw, "accepted_for")
    if raw.get("accepted_for") is not None and (accepted_for is None or without_zone(raw["accepted_for"]) is not None):
        troubles.append("accepted_for is no ISO 8601 date-time with its zone, like 2026-03-01T11:42+01:00")
    confirmed = _number(raw, "confirmed_amount", "", troubles)
    lines = _lines(raw.get("items"), troubles)
    result_id = _text(raw, "result_id", "", troubles) or digest({**raw, "order_id": order_id})
    if troubles:
        raise UnreadableResultError(*troubles)
    return PickingResult(order_id, action, result_id, lines, accepted_for, confirmed, reason, check_first)  # type: ignore[arg-type]  # checked above


def _lines(value: Any, troubles: list[str]) -> tuple[Line, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > LINES_MAX:
        troubles.append(f"items must be a list of at most {LINES_MAX} lines")
        return ()
    return tuple(_line(f"line {number}", entry, troubles) for number, entry in enumerate(value, 1))


def _line(where: str, entry: Any, troubles: list[str]) -> Line:
    if not isinstance(entry, dict):
        troubles.append(f"{where} is no object")
        return Line("picked", Goods(None))
    troubles += [f"{where} has an unknown field {name!r}" for name in sorted(set(map(str, entry)) - _LINE_FIELDS)]
    status = entry.get("status")
    if status not in STATUSES:
        troubles.append(f"{where}: status must be one of {', '.join(STATUSES)}")
        status = "picked"
    by = entry.get("replaced_by")
    others = by if isinstance(by, list) else [] if by is None else [by]
    item_id = _text(entry, "item_id", f"{where}: ", troubles)
    replaced_by = tuple(_other(f"{where}: replaced_by", other, troubles) for other in others)
    return Line(
        cast("LineStatus", status), _goods(where, entry, troubles), item_id.lower() if item_id else None, replaced_by
    )


def _other(where: str, entry: Any, troubles: list[str]) -> Goods:
    if not isinstance(entry, dict):
        troubles.append(f"{where} is no object")
        return Goods(None)
    troubles += [f"{where} has an unknown field {name!r}" for name in sorted(set(map(str, entry)) - _GOOD_FIELDS)]
    return _goods(where, entry, troubles)


def _goods(where: str, entry: Mapping[str, Any], troubles: list[str]) -> Goods:
    numbers = (
        _number(entry, name, f"{where}: ", troubles) for name in ("quantity", "weight", "unit_price", "total_price")
    )
    return Goods(_text(entry, "sku", f"{where}: ", troubles), *numbers)


def _text(raw: Mapping[str, Any], name: str, where: str, troubles: list[str]) -> str | None:
    value = raw.get(name)
    if value is None:
        return None
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not 0 < len(text) <= TEXT_LENGTH_MAX or not text.isprintable():
        troubles.append(f"{where}{name} is no text of 1 to {TEXT_LENGTH_MAX} characters")
        return None
    return text


def _number(raw: Mapping[str, Any], name: str, where: str, troubles: list[str]) -> Decimal | None:
    """A quantity unchanged; a weight or an amount cut after three decimals, never rounded."""
    value = raw.get(name)
    if value is None:
        return None
    number = None if isinstance(value, bool | float) else json_values.decimal(raw, name)
    if number is None or not 0 <= number <= NUMBER_MAX:
        troubles.append(f"{where}{name} is no number from 0 to {NUMBER_MAX:,}")
        return None
    return number if name == "quantity" else cut(number)


def without_zone(value: Any) -> dt.datetime | None:
    """An ISO 8601 date-time that does not tell its zone; None for any other value."""
    try:
        when = dt.datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return when if when.tzinfo is None else None
