"""validate: canonical rows of one vendor against its catalog and against each other.

A price has to be below the base price at every instant of the window: below what the platform has, what it is about to get, and the
lowest that the ERP knows for the window (`base_price`). A SKU in two campaigns at a time is refused in the later one, unless the later
start is meant to win.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.number import mask
from shelfsync.promotions import reason
from shelfsync.promotions.shape import KEPT

if TYPE_CHECKING:
    import numpy.typing as npt

    from shelfsync.catalog.number import Mask
    from shelfsync.promotions.head import Head


@dataclass(frozen=True)
class Judged:
    """Sound `rows` (ROWS), the `kept` (KEPT) of the others, their `row_numbers` and reason numbers `words`; pairs that overlap `said`."""

    rows: pa.Table
    kept: pa.Table
    row_numbers: pa.Array
    words: npt.NDArray[np.int16]
    unknown: pa.Array
    """SKUs the vendor does not have, as far as its assortment is known: the platform will call them missing."""
    said: int
    """SKUs in two campaigns at a time whose later start is meant to win."""


def validate(rows: pa.Table, heads: list[Head], facts: pa.Table) -> Judged:
    """`facts` in FACTS shape; an empty table says that nothing is known of the vendor's assortment."""
    findings = reason.Findings(rows.num_rows)
    findings.note("price_not_below_base", _not_below(rows, base_prices(rows, facts)))
    said = _overlaps(rows, heads, findings)
    faulty = pa.array(findings.faulty)
    aside = rows.filter(faulty)
    skus = column(rows, "sku")
    unknown = (
        skus.filter(pc.invert(pc.is_in(skus, value_set=column(facts, "sku")))) if facts.num_rows else skus.slice(0, 0)
    )
    return Judged(
        rows=rows.filter(pc.invert(faulty)),
        kept=aside.select(KEPT.names),
        row_numbers=column(aside, "row_number"),
        words=findings.numbers[findings.faulty],
        unknown=pc.unique(unknown),
        said=said,
    )


def base_prices(rows: pa.Table, facts: pa.Table) -> pa.Array:
    """The lowest base price known for each row: of the vendor's catalog and of the ERP's window; null where none is known."""
    known = aligned(facts, column(rows, "sku"), ("price",))["price"]
    return pc.min_element_wise(known, column(rows, "base_price"), skip_nulls=True)


def _not_below(rows: pa.Table, base: pa.Array) -> Mask:
    """A percentage of at least one is always below; a final price has to be, and so has what is taken off."""
    amount = pc.not_equal(column(rows, "subtype"), "PERCENTAGE")
    return mask(pc.and_(amount, pc.greater_equal(column(rows, "value"), base)))


def _overlaps(rows: pa.Table, heads: list[Head], findings: reason.Findings) -> int:
    """Notes rows of a later campaign over an earlier one; returns how many SKUs overlap because that is meant."""
    numbers = column(rows, "head").to_numpy(zero_copy_only=False)
    codes = column(rows, "sku").dictionary_encode().indices.to_numpy(zero_copy_only=False)
    counts = np.bincount(codes) if len(codes) else np.zeros(0, np.int64)
    several = counts[codes] > 1 if len(codes) else np.zeros(0, np.bool_)
    if not several.any():
        return 0
    of: dict[int, npt.NDArray[np.int64]] = {
        int(head): np.flatnonzero(several & (numbers == head)) for head in np.unique(numbers[several])
    }
    order = sorted(of, key=lambda number: heads[number])  # by start, then end, then campaign
    said = 0
    for place, later in enumerate(order):
        for earlier in order[:place]:
            if not heads[earlier].overlaps(heads[later]):
                continue
            there = of[earlier][~findings.faulty[of[earlier]]]  # what is not sent is in nobody's way
            both = of[later][np.isin(codes[of[later]], codes[there])]
            where = np.zeros(rows.num_rows, np.bool_)
            where[both] = True
            if heads[earlier].start == heads[later].start:
                findings.note("overlap_same_start", where)
            elif heads[later].may_overlap:
                said += len(both)
            else:
                findings.note("overlap", where)
    return said
