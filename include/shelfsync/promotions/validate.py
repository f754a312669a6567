"""validate: canonical rows of one vendor against its catalog and against each other.

A price must be below the base price, and a row whose base price is unknown waits for it (base_price.py).
"N of one item for X" becomes a bundle first (bundle.py). Of campaigns that have a SKU at the same time, one rule decides (overlap.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions import quarantine_reason
from shelfsync.promotions.base_price import base_prices, not_below, priced, waits_for
from shelfsync.promotions.bundle import with_bundles
from shelfsync.promotions.overlap import decided
from shelfsync.promotions.schemas import KEPT
from shelfsync.rows.alignment import column
from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection

    import numpy.typing as npt

    from shelfsync.promotions.head import Heads
    from shelfsync.promotions.overlap import Overlap


@dataclass(frozen=True)
class Validated:
    """Valid `rows` (ROWS), the `kept` (KEPT) of the others, their `row_numbers` and the numbers of their `reasons`.

    `lost` (KEPT) are not kept: another campaign has the SKU.
    """

    rows: pa.Table
    kept: pa.Table
    lost: pa.Table
    row_numbers: pa.Array
    reasons: npt.NDArray[np.int16]
    messages: dict[int, str]
    """By row number: the whole sentence, where it is more than the reason's."""
    unknown: pa.Array
    """SKUs the vendor does not have, as far as its assortment is known: the platform will report them as missing."""
    intended_overlaps: int
    """SKUs in two campaigns at a time that both run: the later start wins while both last."""


def validate(
    rows: pa.Table,
    heads: Heads,
    assortment: pa.Table,
    asked: pa.Table | None = None,
    *,
    elsewhere: pa.Table | None = None,
    rule: Overlap = "earliest",
    now: dt.datetime | None = None,
    waits: Collection[int] = (),
) -> Validated:
    """`assortment` in ASSORTMENT shape; an empty table: the vendor's assortment is unknown. `rule`: which of two campaigns that overlap runs.

    `asked` (ASKED): SKUs of the ERP that the assortment lacks. `elsewhere` (ASKED): of the SKUs that both lack, those of other vendors;
    None: no row has such a SKU, or the other vendors are not known.
    Campaigns that are over at `now` compete with no other, and neither do the rows of these numbers that a person has to decide about (`waits`).
    """
    findings = quarantine_reason.Findings(rows.num_rows)
    rows = with_bundles(rows, heads, assortment, findings)
    base = base_prices(rows, priced(assortment, asked))
    findings.note("price_not_below_base", not_below(rows, base))
    findings.note("base_price_unknown", waits_for(rows, base, assortment, asked, elsewhere))
    competes = ~findings.faulty
    if waits:
        competes &= ~mask(pc.is_in(column(rows, "row_number"), value_set=pa.array(sorted(waits), pa.int64())))
    lost, intended_overlaps = decided(rows, heads.all, base, competes, rule=rule, now=now)
    where = np.zeros(rows.num_rows, np.bool_)
    where[list(lost)] = True
    findings.note("overlap", where)
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
        kept=rows.filter(pa.array(findings.faulty & ~where)).select(KEPT.names),
        lost=rows.filter(pa.array(where)).select(KEPT.names),
        row_numbers=column(quarantined, "row_number"),
        reasons=findings.numbers[findings.faulty],
        messages={rows["row_number"][place].as_py(): message for place, message in lost.items()},
        unknown=pc.unique(unknown),
        intended_overlaps=intended_overlaps,
    )
