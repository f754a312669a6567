"""acknowledge: the baseline moves by what the platform accepted, SKU by SKU, and by nothing else (I2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.catalog.alignment import column
from shelfsync.catalog.diff import apply

if TYPE_CHECKING:
    import pyarrow as pa


def acknowledge(baseline: pa.Table, items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """The new baseline (BASELINE shape, sorted by sku) after a job that carried `items` (DELTA shape) ended in `outcomes` (OUTCOME shape).

    Only SKUs with the state `accepted` and no other move, and of them only the fields that were sent.
    """
    skus, states = column(outcomes, "sku"), column(outcomes, "state")
    accepted = pc.equal(states, "accepted")
    sent = column(items, "sku")
    moves = pc.and_(
        pc.is_in(sent, value_set=skus.filter(accepted)),
        pc.invert(pc.is_in(sent, value_set=skus.filter(pc.invert(accepted)))),
    )
    return apply(items.filter(moves), baseline)
