"""What the ERP's changes did not report: a whole reading has another value of a SKU than the changes laid over the reading before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.delta import compute_delta
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import FIELDS

if TYPE_CHECKING:
    from shelfsync.catalog.snapshot import Normalised

MISSED = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("change", pa.string(), nullable=False),  # new | changed | removed
        pa.field("fields", pa.string(), nullable=False),  # the fields that differ, separated by commas; empty: none
    ]
)
"""SKUs that the changes did not mention although the whole reading has another value of them. Sorted by sku."""


def missed_skus(known: Normalised, found: Normalised) -> pa.Table:
    """What a whole reading `found` and the changes did not report (MISSED). `known`: the rows of the same vendor as the changes had them.

    Values are compared as they would be sent, so that 1.10 and 1.1 are one price.
    """
    delta = compute_delta(found.snapshot, known.snapshot, full=False, quarantined=found.quarantine)
    skus = column(delta, "sku")
    before, now = aligned(known.snapshot, skus, FIELDS), aligned(found.snapshot, skus, FIELDS)
    differs = [
        pc.and_(now[name].is_valid(), pc.invert(pc.equal(now[name], before[name]).fill_null(False))) for name in FIELDS
    ]
    fields = [pc.if_else(differ, f"{name},", "") for name, differ in zip(FIELDS, differs, strict=True)]
    texts = pc.utf8_rtrim(pc.binary_join_element_wise(*fields, ""), characters=",")
    return pa.Table.from_arrays([skus, column(delta, "change"), texts], schema=MISSED)
