"""What is a stop-sell, what a price correction: the priority of each changed row.

A **stop-sell** makes a product that is, or may be, on sale unbuyable: every minute customers buy what is not there. A **price** correction
of a product on sale comes next: every minute customers buy at the wrong price. All else is **catalog**. These are the priorities of the
rate limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.sold_out import sold_out
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import BASELINE, DELTA, completed

if TYPE_CHECKING:
    from shelfsync.catalog.sales_buffers import AtBuffer


def priorities(delta: pa.Table, baseline: pa.Table, *, at_buffer: AtBuffer = "activates") -> pa.Array:
    """The priority of each row of the delta (DELTA schema): one of PRIORITIES. `baseline`: BASELINE schema."""
    delta, baseline = completed(delta, DELTA), completed(baseline, BASELINE)
    skus = column(delta, "sku")
    before = aligned(baseline, skus, ("sku", "price", "quantity", "active", "sales_buffer"))
    now = {name: column(delta, name) for name in ("price", "quantity", "active", "sales_buffer")}
    on = pc.invert(_off(now, at_buffer))
    was_off = _off(before, at_buffer)
    stops = pc.and_(pc.invert(on), pc.invert(was_off))
    flag = pc.coalesce(now["active"], before["active"]).fill_null(True)
    stays_off = pc.and_(was_off, pc.and_(now["quantity"].is_null(), now["active"].is_null()))
    on_sale = pc.and_(pc.and_(flag, on), pc.invert(stays_off))
    moved = pc.and_(now["price"].is_valid(), pc.not_equal(now["price"], before["price"]).fill_null(True))
    corrected = pc.and_(pc.and_(moved, before["sku"].is_valid()), on_sale)
    return pc.if_else(stops, "stop_sell", pc.if_else(corrected, "price", "catalog"))


def _off(values: dict[str, pa.Array], at_buffer: AtBuffer) -> pa.Array:
    """A mask without nulls of the rows that no customer can buy: inactive, no stock, or too little for a known buffer."""
    inactive = pc.equal(values["active"], False).fill_null(False)
    return pc.or_(inactive, sold_out(values["quantity"], values["sales_buffer"], at_buffer))
