"""interval: where the sales buffer of each SKU lies, as far as what was told and what was shown have betrayed it.

A product that was told 4 pieces and is shown on has a buffer of at most 4; one that was told 2 and is shown off has one above 2. Between
the two nobody knows. A picture that contradicts what was learned before is believed: the buffer was moved, or somebody had switched the
product by hand when the older one was taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.effect import INTERVAL
from shelfsync.columns import BASELINE, completed

if TYPE_CHECKING:
    from collections.abc import Sequence


def learn(known: pa.Table, baseline: pa.Table, observed: pa.Table, *, unsure: Sequence[pa.Array] = ()) -> pa.Table:
    """The intervals (INTERVAL shape) after a picture (OBSERVED shape) of what the baseline was told.

    `unsure`: SKUs of which the picture may show something older or newer than the baseline, or what a person did by hand. Nothing is
    learned from a quantity beside `active` false, which is off whatever the buffer.
    """
    baseline = completed(baseline, BASELINE)
    told = baseline.filter(
        pc.and_(pc.is_valid(baseline["quantity"]), pc.fill_null(pc.not_equal(baseline["active"], False), True))
    )
    for skus in unsure:
        told = told.filter(pc.invert(pc.is_in(told["sku"], value_set=skus)))
    skus, quantity = column(told, "sku"), column(told, "quantity")
    shown = aligned(observed, skus, ["active"])["active"]
    on, off = shown.fill_null(False), pc.invert(shown).fill_null(False)
    every = _union(column(known, "sku"), skus.filter(shown.is_valid()))
    nothing = pa.scalar(None, pa.int64())
    evidence = {"sku": skus, "on": pc.if_else(on, quantity, nothing), "off": pc.if_else(off, quantity, nothing)}
    now = aligned(pa.table(evidence), every, ["on", "off"])
    before = aligned(known, every, ["off_max", "on_min"])
    on_min = pc.min_element_wise(before["on_min"], now["on"])
    off_max = pc.max_element_wise(before["off_max"], now["off"])
    crossed = pc.greater_equal(off_max, on_min).fill_null(False)
    on_min = pc.if_else(crossed, now["on"], on_min)
    off_max = pc.if_else(crossed, now["off"], off_max)
    return pa.Table.from_arrays([every, off_max, on_min], schema=INTERVAL)


def _union(one: pa.Array, other: pa.Array) -> pa.Array:
    both = pc.unique(pa.concat_arrays([one, other]))
    return both.take(pc.array_sort_indices(both))
