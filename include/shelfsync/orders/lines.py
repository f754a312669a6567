"""Picking results out of a table: one row a line, the rows of one result together are one result."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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


def gathered(rows: Iterable[Mapping[str, Any]]) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """(order_id, result as JSON) of every result that is whole, and the result_ids of those whose lines are not all there yet.

    A result is whole when it has as many lines as its `line_count` says; without one, as it is.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((str(row["order_id"]).strip(), str(row["result_id"]).strip()), []).append(row)
    whole: list[tuple[str, dict[str, Any]]] = []
    partial: list[str] = []
    for (order_id, result_id), mine in groups.items():
        counts = {int(row["line_count"]) for row in mine if row.get("line_count") is not None}
        lines = [row for row in mine if _plain(row.get("status")) is not None]
        if counts and counts != {len(lines)}:
            partial.append(result_id)
            continue
        lines.sort(key=lambda row: (row.get("line_no") is None, row.get("line_no")))
        head = {name: value for name in _HEAD if (value := _plain(mine[0].get(name))) is not None}
        if "check_first" in head:
            head["check_first"] = str(head["check_first"]).lower() in {"1", "true", "t", "yes", "y"}
        whole.append((order_id, head | ({"items": [_line(row) for row in lines]} if lines else {})))
    return whole, partial


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
