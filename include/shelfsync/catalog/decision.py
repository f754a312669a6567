"""What a person's word about a held slice has to do with a delta."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.columns import DELTA, FIELDS


def beside(delta: pa.Table, held: pa.Table) -> pa.Table:
    """The delta (DELTA shape) without the fields of the SKUs that `held` names: all that is no question of that slice."""
    mine = aligned(held, column(delta, "sku"), FIELDS)
    columns = {name: column(delta, name) for name in DELTA.names}
    for name in FIELDS:
        values = columns[name]
        columns[name] = pc.if_else(mine[name].is_valid(), pa.scalar(None, values.type), values)
    return pa.Table.from_arrays([columns[name] for name in DELTA.names], schema=DELTA)


def pending(delta: pa.Table, baseline: pa.Table, approved: pa.Table) -> bool:
    """Whether the delta still asks for a value that was approved and that the baseline does not have.

    False: it has been acknowledged, or the ERP has said something else. What a full sync repeats asks for nothing.
    """
    skus = column(delta, "sku")
    let, before = (aligned(table, skus, FIELDS) for table in (approved, baseline))
    for name in FIELDS:
        values = column(delta, name)
        news = pc.invert(pc.equal(values, before[name]).fill_null(False))
        if pc.any(pc.and_(pc.equal(values, let[name]).fill_null(False), news)).as_py():
            return True
    return False
