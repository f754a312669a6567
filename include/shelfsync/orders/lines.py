"""Picking results out of a table: one row a line, the rows of one result together are one result."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from partner_api import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COLUMNS = (
    "order_id", "result_id", "action", "line_no", "line_count", "item_id", "sku", "status", "quantity", "weight", "unit_price",
    "total_price", "by_sku", "by_quantity", "by_weight", "by_unit_price", "by_total_price", "accepted_for", "confirmed_amount",
    "reason", "check_first",
)  # fmt: skip
"""All columns that are read; order_id, result_id and action are needed, the others where there is something to say."""
NEEDED = ("order_id", "result_id", "action")
_HEAD = ("result_id", "action", "accepted_for", "confirmed_amount", "reason", "check_first")
_LINE = ("item_id", "sku", "status", "quantity", "weight", "unit_price", "total_price")
_BY = ("sku", "quantity", "weight", "unit_price", "total_price")


@dataclass
class Gathered:
    """`whole`: (order_id, result as JSON); `partial`: result_ids whose lines are not all there yet; `broken`: (order_id, result_id, why)."""

    whole: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    broken: list[tuple[str, str, str]] = field(default_factory=list)


def gathered(rows: Iterable[Mapping[str, Any]]) -> Gathered:
    """Results out of rows. One is whole when it has as many lines as its `line_count` says; without one, as it is."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((str(row["order_id"]).strip(), str(row["result_id"]).strip()), []).append(row)
    told = Gathered()
    for (order_id, result_id), mine in groups.items():
        counts = {_number(row["line_count"]) for row in mine if row.get("line_count") is not None}
        lines = [row for row in mine if _plain(row.get("status")) is not None]
        said = {name: {value for row in mine if (value := _plain(row.get(name))) is not None} for name in _HEAD}
        at_odds = [name for name, values in said.items() if len(values) > 1]
        if None in counts or len(counts) > 1:
            told.broken.append((order_id, result_id, "its line_count is not one whole number"))
        elif at_odds:
            told.broken.append((order_id, result_id, f"its rows are at odds about {at_odds[0]}"))
        elif counts and len(lines) > max(filter(None, counts), default=0):
            told.broken.append((order_id, result_id, f"it has {len(lines)} lines, and line_count says fewer"))
        elif counts and counts != {len(lines)}:
            told.partial.append(result_id)
        else:
            told.whole.append((order_id, _whole(said, lines)))
    return told


def _whole(said: Mapping[str, set[Any]], lines: list[Mapping[str, Any]]) -> dict[str, Any]:
    head = {name: next(iter(values)) for name, values in said.items() if values}
    if "check_first" in head:
        head["check_first"] = str(head["check_first"]).lower() in {"1", "true", "t", "yes", "y"}
    lines.sort(key=lambda row: _place(row.get("line_no")))
    return head | ({"items": [_line(row) for row in lines]} if lines else {})


def _number(value: Any) -> int | None:
    """A whole number, however the database says it."""
    number = reading.decimal({"value": _plain(value)}, "value")
    return int(number) if number is not None and number == number.to_integral_value() and number >= 0 else None


def _place(value: Any) -> tuple[bool, Decimal, str]:
    number = reading.decimal({"value": _plain(value)}, "value")
    return (value is None, Decimal(0) if number is None else number, str(value))


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    line = {name: value for name in _LINE if (value := _plain(row.get(name))) is not None}
    other = {name: value for name in _BY if (value := _plain(row.get(f"by_{name}"))) is not None}
    return line | ({"replaced_by": other} if other else {})


def _plain(value: Any) -> Any:
    """A value of a database as JSON has it; blank text says nothing. A float becomes the shortest decimal that it was written as."""
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).isoformat()
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, str):
        return value.strip() or None
    return value if isinstance(value, bool | int | Decimal) or value is None else str(value)
