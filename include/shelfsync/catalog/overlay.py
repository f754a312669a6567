"""overlay: changed rows of one vendor laid over its last reading, row by row of the ERP, before anything is judged.

A row replaces all rows of its SKU. A SKU without a changed row keeps its rows: absence means nothing. So laying the changes over a
reading gives what reading the whole would have given, and laying them over twice gives the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.diff import diff
from shelfsync.catalog.normalise import normalise
from shelfsync.schemas import BASELINE, FIELDS, RAW

if TYPE_CHECKING:
    from shelfsync.settings import NormaliseSettings

MISSED = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("change", pa.string(), nullable=False),  # new | changed | removed
        pa.field("fields", pa.string(), nullable=False),  # the fields that differ, separated by commas; empty: none
    ]
)
"""SKUs that the changes did not mention although the whole reading has another value of them. Sorted by sku."""


def lay_over(base: pa.Table, changed: pa.Table) -> pa.Table | None:
    """The vendor's rows with the changed ones in place of theirs (all in RAW schema); None if they are the same rows already.

    The other rows keep their numbers, and the changed ones are counted on from the highest.
    """
    mine, theirs = _keys(base), _keys(changed)
    replaced = pc.is_in(mine, value_set=theirs)
    if _same(base.filter(replaced), changed):
        return None
    kept = base.filter(pc.invert(replaced))
    first = (pc.max(base["row_number"]).as_py() or 0) + 1
    numbers = pa.array(range(first, first + changed.num_rows), pa.int64())
    return pa.concat_tables([kept, changed.set_column(0, RAW.field("row_number"), numbers)]).cast(RAW)


def missed(
    told: pa.Table, whole: pa.Table, settings: NormaliseSettings, *, key: Literal["sku", "barcode"] = "sku"
) -> pa.Table:
    """What a whole reading found and the changes had not told (MISSED). Both are rows of one vendor in RAW schema.

    Values are compared as they would be sent, so that 1.10 and 1.1 are one price.
    """
    known, found = normalise(told, settings, key=key), normalise(whole, settings, key=key)
    delta = diff(found.snapshot, known.snapshot.select(BASELINE.names), full=False, quarantined=found.quarantine)
    skus = column(delta, "sku")
    before, now = aligned(known.snapshot, skus, FIELDS), aligned(found.snapshot, skus, FIELDS)
    differs = [
        pc.and_(now[name].is_valid(), pc.invert(pc.equal(now[name], before[name]).fill_null(False))) for name in FIELDS
    ]
    fields = [pc.if_else(differ, f"{name},", "") for name, differ in zip(FIELDS, differs, strict=True)]
    texts = pc.utf8_rtrim(pc.binary_join_element_wise(*fields, ""), characters=",")
    return pa.Table.from_arrays([skus, column(delta, "change"), texts], schema=MISSED)


def _keys(rows: pa.Table) -> pa.Array:
    """The SKU as normalise reads it; the rows without one are one key."""
    return pc.utf8_trim(pc.fill_null(column(rows, "sku"), ""), characters=" ")


def _same(before: pa.Table, now: pa.Table) -> bool:
    if before.num_rows != now.num_rows:
        return False
    values = RAW.names[1:]
    order = [(name, "ascending") for name in values]
    one, other = (rows.select(values).combine_chunks().sort_by(order) for rows in (before, now))
    return bool(one.equals(other))
