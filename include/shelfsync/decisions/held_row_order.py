"""The order of held rows: by the move of the price, the largest first, by value, or by SKU."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from shelfsync import display

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOVES = 5
"""How many of the largest moves are named."""


ORDERS = ("largest move", "value", "SKU")
"""How held rows can be sorted."""


def ordered(table: Any, *, rows: int) -> list[dict[str, Any]]:
    """The first rows by their move, as `in_order`."""
    found: list[dict[str, Any]] = in_order(table, ORDERS[0]).slice(0, rows).to_pylist()
    return found


def in_order(table: Any, order: str) -> Any:
    """The rows, each with its `percent` and `value`: the change of the price, and what it makes over the stock; null: unknown.

    The first have the largest move of the price, up or down alike, or the largest value. Then, and else, by SKU.
    """
    import pyarrow.compute as pc

    value = _values(table)
    percent = pc.multiply(pc.subtract(table["move"], 1), 100)
    table = table.append_column("percent", percent).append_column("value", value)
    if order == "SKU":
        return table.sort_by("sku")
    if order == "value":
        return table.sort_by([("value", "descending"), ("sku", "ascending")])
    safe = pc.if_else(pc.greater_equal(table["move"], 0).fill_null(False), table["move"], 1.0)
    far = pc.abs(pc.ln(safe))  # infinite for a price of zero
    keyed = table.append_column("far", far).sort_by([("far", "descending"), ("sku", "ascending")])
    return keyed.drop_columns(["far"])


def _values(table: Any) -> Any:
    """The change of each price times the pieces in stock; null where one of them is not known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not {"quantity", "quantity_before", "price", "price_before"} <= set(table.column_names):
        return pa.nulls(table.num_rows, pa.decimal256(38, 3))
    exact = pa.decimal256(38, 3)
    move = pc.abs(pc.subtract(pc.cast(table["price"], exact), pc.cast(table["price_before"], exact)))
    stock = pc.max_element_wise(pc.coalesce(table["quantity"], table["quantity_before"]), 0, skip_nulls=False)
    return pc.multiply(move, stock)


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
