"""urgency: which rows of a delta must leave before the others, and in how few requests.

A **stop-sell** makes a product that is, or may be, on sale unbuyable: every minute sells what is not there. A **price** correction of a
product on sale comes next: every minute sells at the wrong price. All else is **catalog**. The words are those of the budget's lanes.

A vendor has at most one open job, so what is urgent should not wait for a large job of what is not. But a job costs up to three
requests (the update, a status call, the log), and the whole chain has sixty a minute: what is small rides along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import companion
from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.buffer import sold_out
from shelfsync.columns import BASELINE, DELTA, completed

if TYPE_CHECKING:
    from shelfsync.catalog.buffer import AtBuffer

LANES = ("stop_sell", "price", "catalog")
"""Most urgent first."""


@dataclass(frozen=True)
class Part:
    """What leaves together: `rows` in DELTA shape, sorted by sku; the `lane` of its most urgent rows, and how many are of that lane."""

    lane: str
    rows: pa.Table
    urgent: int


def parts(delta: pa.Table, baseline: pa.Table, *, together_max: int, at_buffer: AtBuffer = "activates") -> list[Part]:
    """The delta in the order in which it shall leave; together they are the delta.

    Lanes share a request as long as it has at most `together_max` rows: then waiting for the whole costs next to nothing.
    """
    delta = completed(delta, DELTA)
    words = lanes(delta, baseline, at_buffer=at_buffer)
    counts = {lane: pc.sum(pc.equal(words, lane)).as_py() or 0 for lane in LANES}
    groups: list[list[str]] = []
    for lane in (lane for lane in LANES if counts[lane]):
        if groups and sum(counts[one] for one in groups[-1]) + counts[lane] <= together_max:
            groups[-1].append(lane)
        else:
            groups.append([lane])
    if len(groups) == 1:
        return [Part(groups[0][0], delta, counts[groups[0][0]])]
    found = _in_company([(group[0], delta.filter(pc.is_in(words, value_set=pa.array(group)))) for group in groups])
    skus = {lane: column(delta, "sku").filter(pc.equal(words, lane)) for lane, _ in found}
    return [
        Part(lane, companion.alone(rows, baseline), pc.sum(pc.is_in(rows["sku"], value_set=skus[lane])).as_py() or 0)
        for lane, rows in found
    ]


def lanes(delta: pa.Table, baseline: pa.Table, *, at_buffer: AtBuffer = "activates") -> pa.Array:
    """The word of each row of the delta (DELTA shape): one of LANES."""
    delta, baseline = completed(delta, DELTA), completed(baseline, BASELINE)
    skus = column(delta, "sku")
    before = aligned(baseline, skus, ("sku", "price", "quantity", "active", "sales_buffer"))
    now = {name: column(delta, name) for name in ("price", "quantity", "active", "sales_buffer")}
    on = pc.invert(_off(now, at_buffer))
    said_off = pc.invert(on)
    was_off = _off(before, at_buffer)
    stops = pc.and_(said_off, pc.invert(was_off))
    flag = pc.coalesce(now["active"], before["active"]).fill_null(True)
    stays_off = pc.and_(was_off, pc.and_(now["quantity"].is_null(), now["active"].is_null()))
    on_sale = pc.and_(pc.and_(flag, on), pc.invert(stays_off))
    moved = pc.and_(now["price"].is_valid(), pc.not_equal(now["price"], before["price"]).fill_null(True))
    corrected = pc.and_(pc.and_(moved, before["sku"].is_valid()), on_sale)
    return pc.if_else(stops, "stop_sell", pc.if_else(corrected, "price", "catalog"))


def _off(said: dict[str, pa.Array], at_buffer: AtBuffer) -> pa.Array:
    """Rows whose word is that nobody can buy it: inactive, nothing there, or too little for the buffer of which one knows. No null in it."""
    inactive = pc.equal(said["active"], False).fill_null(False)
    return pc.or_(inactive, sold_out(said["quantity"], said["sales_buffer"], at_buffer))


def _in_company(found: list[tuple[str, pa.Table]]) -> list[tuple[str, pa.Table]]:
    """A row that would leave alone takes the first of the next group along: in a request of one item a quantity may switch nothing off."""
    left = list(found)
    result: list[tuple[str, pa.Table]] = []
    while left:
        lane, rows = left.pop(0)
        if rows.num_rows == 1 and left:
            after, others = left[0]
            both = pa.concat_tables([rows, others.slice(0, 1)])
            rows, left[0] = both.take(pc.array_sort_indices(column(both, "sku"))), (after, others.slice(1))
        if rows.num_rows:
            result.append((lane, rows))
    return result
