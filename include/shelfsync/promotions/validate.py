"""validate: canonical rows of one vendor against its catalog and against each other.

A price must be below the base price at every instant of the window: below the platform's price, below the price in flight to it, and
below the lowest that the ERP knows for the window (`base_price`). A price of several pieces becomes a bundle
of the platform first. If a SKU is in two campaigns at a time, its row in the later one is
quarantined, unless the later start is meant to win.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.number import mask
from shelfsync.promotions import quarantine_reason
from shelfsync.promotions.bundle import resolved
from shelfsync.promotions.schemas import KEPT

if TYPE_CHECKING:
    import numpy.typing as npt

    from shelfsync.catalog.number import Mask
    from shelfsync.promotions.head import Head, Heads


@dataclass(frozen=True)
class Validated:
    """Valid `rows` (ROWS), the `kept` (KEPT) of the others, their `row_numbers` and the numbers of their `reasons`."""

    rows: pa.Table
    kept: pa.Table
    row_numbers: pa.Array
    reasons: npt.NDArray[np.int16]
    unknown: pa.Array
    """SKUs the vendor does not have, as far as its assortment is known: the platform will report them as missing."""
    intended_overlaps: int
    """SKUs in two campaigns at a time whose later start is meant to win."""


def validate(rows: pa.Table, heads: Heads, assortment: pa.Table) -> Validated:
    """`assortment` in ASSORTMENT shape; an empty table: the vendor's assortment is unknown."""
    findings = quarantine_reason.Findings(rows.num_rows)
    rows = resolved(rows, heads, assortment, findings)
    findings.note("price_not_below_base", _not_below(rows, base_prices(rows, assortment)))
    intended_overlaps = _overlaps(rows, heads.all, findings)
    faulty = pa.array(findings.faulty)
    quarantined = rows.filter(faulty)
    skus = column(rows, "sku")
    unknown = (
        skus.filter(pc.invert(pc.is_in(skus, value_set=column(assortment, "sku"))))
        if assortment.num_rows
        else skus.slice(0, 0)
    )
    return Validated(
        rows=rows.filter(pc.invert(faulty)),
        kept=quarantined.select(KEPT.names),
        row_numbers=column(quarantined, "row_number"),
        reasons=findings.numbers[findings.faulty],
        unknown=pc.unique(unknown),
        intended_overlaps=intended_overlaps,
    )


def base_prices(rows: pa.Table, assortment: pa.Table) -> pa.Array:
    """The lowest base price known for each row: of the vendor's catalog and of the ERP's window; null if none is known."""
    known = aligned(assortment, column(rows, "sku"), ("price",))["price"]
    return pc.min_element_wise(known, column(rows, "base_price"), skip_nulls=True)


def _not_below(rows: pa.Table, base: pa.Array) -> Mask:
    """A percentage of at least one is always below. A final price must be below, and so must an amount off."""
    amount = pc.invert(pc.is_in(column(rows, "subtype"), value_set=pa.array(["PERCENTAGE", "TOTAL_PRICE"])))
    return mask(pc.and_(amount, pc.greater_equal(column(rows, "value"), base)))


def _overlaps(rows: pa.Table, heads: list[Head], findings: quarantine_reason.Findings) -> int:
    """Notes rows of a later campaign over an earlier one; returns how many SKUs overlap on purpose."""
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
    intended = 0
    for position, later in enumerate(order):
        for earlier in order[:position]:
            if not heads[earlier].overlaps(heads[later]):
                continue
            there = of[earlier][~findings.faulty[of[earlier]]]  # a quarantined row blocks no other
            both = of[later][np.isin(codes[of[later]], codes[there])]
            where = np.zeros(rows.num_rows, np.bool_)
            where[both] = True
            if heads[earlier].start == heads[later].start:
                findings.note("overlap_same_start", where)
            elif heads[later].may_overlap:
                intended += len(both)
            else:
                findings.note("overlap", where)

    return intended
