"""The moves of a price in held rows, the largest first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from shelfsync import display

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOVES = 5
"""How many of the largest moves are named."""


def ordered(table: Any, *, first: int = 0, rows: int | None = None) -> list[dict[str, Any]]:
    """The rows with the largest move of the price first, up or down alike, then by SKU."""
    import pyarrow.compute as pc

    safe = pc.if_else(pc.greater_equal(table["move"], 0).fill_null(False), table["move"], 1.0)
    far = pc.abs(pc.ln(safe))  # infinite for a price of zero
    keyed = table.append_column("far", far).sort_by([("far", "descending"), ("sku", "ascending")])
    found: list[dict[str, Any]] = keyed.drop_columns(["far"]).slice(first, rows).to_pylist()
    return found


def largest(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose price moves most."""
    return sorted(rows, key=_distance, reverse=True)[:MOVES]


def lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """These moves for a person. Each row has `vendor` too, and its `name` if that is known."""
    for row in rows:
        if row["move"] is not None and row["move"] != 1:
            percent = f"{(row['move'] - 1) * 100:+,.1f} %"
            yield f"SKU {display.product(row['sku'], row.get('name'))} of {row['vendor']}: price {_price(row['price_before'])} -> {_price(row['price'])} ({percent})"


def _price(value: Any) -> str:
    return display.value("price", value)


def _distance(row: dict[str, Any]) -> float:
    """How far a price moves, up or down alike; to nothing is the farthest."""
    move = row["move"]
    return 0.0 if move is None else abs(math.log(move)) if move > 0 else math.inf
