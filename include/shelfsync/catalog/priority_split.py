"""The split by priority: which rows of a delta must leave before the others, and in how few requests.

What is a stop-sell or a price correction is in `stop_sell`.

An urgent row must not wait for a large body of others. But a job costs up to three requests (the update, a status call, the log), and the
whole chain has sixty a minute: a small group is sent with the next one. Which vendor's request leaves first is in `whose_turn`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.catalog.state import PRIORITIES
from shelfsync.catalog.stop_sell import priorities
from shelfsync.rows.alignment import column
from shelfsync.schemas import DELTA, completed

if TYPE_CHECKING:
    from shelfsync.catalog.sales_buffers import AtBuffer


@dataclass(frozen=True)
class Part:
    """What is sent together: `rows` (DELTA schema, sorted by sku), the priority of the most urgent ones, and how many have it."""

    priority: str
    rows: pa.Table
    urgent: int


def parts(delta: pa.Table, baseline: pa.Table, *, together_max: int, at_buffer: AtBuffer = "activates") -> list[Part]:
    """The delta (DELTA schema) in parts, in the order of sending; together they are the delta. `baseline`: BASELINE schema.

    Priorities share a part of at most `together_max` rows: the urgent rows of a small part wait no longer than those of a large one.
    """
    delta = completed(delta, DELTA)
    names = priorities(delta, baseline, at_buffer=at_buffer)
    counts = {name: pc.sum(pc.equal(names, name)).as_py() or 0 for name in PRIORITIES}
    groups: list[list[str]] = []
    for name in (name for name in PRIORITIES if counts[name]):
        if groups and sum(counts[one] for one in groups[-1]) + counts[name] <= together_max:
            groups[-1].append(name)
        else:
            groups.append([name])
    if len(groups) == 1:
        return [Part(groups[0][0], delta, counts[groups[0][0]])]
    found = _without_singles([(group[0], delta.filter(pc.is_in(names, value_set=pa.array(group)))) for group in groups])
    skus = {name: column(delta, "sku").filter(pc.equal(names, name)) for name, _ in found}
    return [
        Part(
            priority,
            with_active_if_single(rows, baseline),
            pc.sum(pc.is_in(rows["sku"], value_set=skus[priority])).as_py() or 0,
        )
        for priority, rows in found
    ]


def _without_singles(groups: list[tuple[str, pa.Table]]) -> list[tuple[str, pa.Table]]:
    """A group of one row gets the first row of the next group: in a request of one item a quantity may switch nothing off."""
    left = list(groups)
    result: list[tuple[str, pa.Table]] = []
    while left:
        name, rows = left.pop(0)
        if rows.num_rows == 1 and left:
            after, others = left[0]
            both = pa.concat_tables([rows, others.slice(0, 1)])
            rows, left[0] = both.take(pc.array_sort_indices(column(both, "sku"))), (after, others.slice(1))
        if rows.num_rows:
            result.append((name, rows))
    return result
