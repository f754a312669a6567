"""Picking results in a table of the store's own system: one row a line. A result waits until all of its lines are there."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from partner_api import json_values
from shelfsync.orders.picking_result import without_zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROW_COLUMNS = (
    "order_id", "result_id", "action", "line_no", "line_count", "item_id", "sku", "status", "quantity", "weight", "unit_price",
    "total_price", "by_sku", "by_quantity", "by_weight", "by_unit_price", "by_total_price", "accepted_for", "confirmed_amount",
    "reason", "check_first",
)  # fmt: skip
"""All columns that are read. order_id, result_id and action are required, the others optional."""
ROW_COLUMNS_NEEDED = ("order_id", "result_id", "action")
_HEAD = ("result_id", "action", "accepted_for", "confirmed_amount", "reason", "check_first")
_LINE = ("item_id", "sku", "status", "quantity", "weight", "unit_price", "total_price")
_BY = ("sku", "quantity", "weight", "unit_price", "total_price")


@dataclass
class Gathered:
    """`whole`: (order_id, result as JSON); `partial`: result_ids with missing lines; `broken`: (order_id, result_id, why)."""

    whole: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    broken: list[tuple[str, str, str]] = field(default_factory=list)


def gathered(rows: Iterable[Mapping[str, Any]], zone: dt.tzinfo) -> Gathered:
    """Results from rows. A result is whole if it has `line_count` lines; without a `line_count`, always.

    `zone`: of times that carry none.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((str(row["order_id"]).strip(), str(row["result_id"]).strip()), []).append(row)
    gathered_results = Gathered()
    for (order_id, result_id), group in groups.items():
        counts = {_number_of(row["line_count"]) for row in group if row.get("line_count") is not None}
        lines = [row for row in group if _plain(row.get("status")) is not None]
        head_values = {name: {value for row in group if (value := _plain(row.get(name))) is not None} for name in _HEAD}
        at_odds = [name for name, values in head_values.items() if len(values) > 1]
        if None in counts or len(counts) > 1:
            gathered_results.broken.append((order_id, result_id, "its line_count is not one whole number"))
        elif at_odds:
            gathered_results.broken.append((order_id, result_id, f"its rows contradict each other about {at_odds[0]}"))
        elif counts and len(lines) > max(filter(None, counts), default=0):
            gathered_results.broken.append(
                (order_id, result_id, f"it has {len(lines)} lines, more than its line_count")
            )
        elif counts and counts != {len(lines)}:
            gathered_results.partial.append(result_id)
        else:
            gathered_results.whole.append((order_id, _whole(head_values, lines, zone)))
    return gathered_results


def _whole(head_values: Mapping[str, set[Any]], lines: list[Mapping[str, Any]], zone: dt.tzinfo) -> dict[str, Any]:
    head = {name: next(iter(values)) for name, values in head_values.items() if values}
    if "check_first" in head:
        head["check_first"] = _truth(head["check_first"])
    if (when := without_zone(head.get("accepted_for"))) is not None:
        head["accepted_for"] = when.replace(tzinfo=zone).isoformat()
    lines.sort(key=lambda row: _place(row.get("line_no")))
    return head | ({"items": [_line_of(row) for row in lines]} if lines else {})


def _truth(value: Any) -> Any:
    """True or False for a word of truth; any other value as it is, which `read` reports."""
    from shelfsync.rows.truth_words import FALSE, TRUE

    word = str(value).lower()
    return word in TRUE if word in TRUE or word in FALSE else value


def _number_of(value: Any) -> int | None:
    """A whole number in any type of the database; None for another value."""
    number = json_values.decimal({"value": _plain(value)}, "value")
    return int(number) if number is not None and number == number.to_integral_value() and number >= 0 else None


def _place(value: Any) -> tuple[bool, Decimal, str]:
    number = json_values.decimal({"value": _plain(value)}, "value")
    return (value is None, Decimal(0) if number is None else number, str(value))


def _line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    line = {name: value for name in _LINE if (value := _plain(row.get(name))) is not None}
    other = {name: value for name in _BY if (value := _plain(row.get(f"by_{name}"))) is not None}
    return line | ({"replaced_by": other} if other else {})


def _plain(value: Any) -> Any:
    """A value of a database as JSON has it; blank text becomes None. A float becomes its shortest decimal."""
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, str):
        return value.strip() or None
    return value if isinstance(value, bool | int | Decimal) or value is None else str(value)
