"""stake: what an approval of held changes will do: how many rows, the largest moves of a price, and the value at stake."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import display
from shelfsync.decisions.held_row_order import lines as move_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_EXACT = pa.decimal256(38, 3)


def stake(rows: pa.Table) -> dict[str, Any]:
    """What is at stake in held rows, each beside its values before: counts of rows, and exact amounts.

    `price_value`: the difference of old and new price times the pieces in stock, over the `valued` of the `repriced` rows. A row whose
    stock is unknown has no part in it. `off_value`: old price times stock of what goes off sale.
    """
    price, before = rows["price"], rows["price_before"]
    stock = pc.coalesce(rows["quantity"], rows["quantity_before"])
    up, down = pc.greater(price, before).fill_null(False), pc.less(price, before).fill_null(False)
    moved = pc.or_(up, down)
    off = pc.and_(pc.equal(rows["active"], False), pc.fill_null(rows["active_before"], True)).fill_null(False)
    move = pc.abs(pc.subtract(pc.cast(price, _EXACT), pc.cast(before, _EXACT)))
    return {
        "rows": rows.num_rows,
        "new": _count(pc.equal(rows["change"], "new")),
        "up": _count(up),
        "down": _count(down),
        "off_sale": _count(off),
        "repriced": _count(moved),
        "valued": _count(pc.and_(moved, pc.is_valid(stock))),
        "price_value": _value(pc.filter(move, moved), pc.filter(stock, moved)),
        "off_value": _value(pc.filter(before, off), pc.filter(pc.coalesce(rows["quantity_before"], stock), off)),
    }


def summed(stakes: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The stake of several holds together."""
    total: Counter[str] = Counter()
    for one in stakes:
        total.update(one)
    return dict(total)


def lines(found: dict[str, Any], moves: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The stake for a person. `moves`: the rows with the largest moves first, with `vendor`."""
    named = (("prices up", "up"), ("prices down", "down"), ("new products", "new"), ("off sale", "off_sale"))
    parts = [f"{found[name]:,} {label}" for label, name in named if found[name]]
    yield f"{found['rows']:,} rows" + (f": {', '.join(parts)}" if parts else "")
    yield from move_lines(moves)
    if found["repriced"]:
        of = f"{found['valued']:,} of {found['repriced']:,} changed prices with known stock"
        yield f"value at stake: {display.total(found['price_value'])}, the change of price times the stock, over {of}"
    if found["off_sale"]:
        yield f"stock that goes off sale: {display.total(found['off_value'])} at the old price"


def _count(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)


def _value(price: pa.ChunkedArray, stock: pa.ChunkedArray) -> Decimal:
    """Prices times pieces, exact; less than no piece counts as none."""
    pieces = pc.max_element_wise(stock, pa.scalar(0, pa.int64()), skip_nulls=False)
    total = pc.sum(pc.multiply(pc.cast(price, _EXACT), pieces)).as_py()
    return Decimal(0) if total is None else Decimal(total)
