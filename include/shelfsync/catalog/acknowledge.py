"""acknowledge: the baseline moves by what the platform accepted, SKU by SKU, and by nothing else (I2).

What was sent and of which the platform said nothing is neither the old value nor the new one: it becomes unknown, a null (I7).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.diff import apply
from shelfsync.columns import BASELINE, FIELDS, completed


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


def in_doubt(baseline: pa.Table, items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """The baseline (BASELINE shape) in which the fields that were sent for `unaccounted` SKUs are null: nobody knows what the platform holds.

    The next delta says them again, also when the ERP has gone back meanwhile to what was acknowledged before; a SKU that was not
    known yet is from now on, so that it is switched off should it leave the ERP.
    """
    baseline = completed(baseline, BASELINE)
    silent = column(outcomes, "sku").filter(pc.equal(column(outcomes, "state"), "unaccounted"))
    sent = items.filter(pc.is_in(column(items, "sku"), value_set=silent))
    known = column(baseline, "sku")
    said = aligned(sent, known, FIELDS)
    columns = {name: column(baseline, name) for name in BASELINE.names}
    for name in FIELDS:
        columns[name] = pc.if_else(said[name].is_valid(), pa.scalar(None, columns[name].type), columns[name])
    held = pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
    new = sent.filter(pc.invert(pc.is_in(column(sent, "sku"), value_set=known)))
    if not new.num_rows:
        return held
    nothing = {name: pa.nulls(new.num_rows, BASELINE.field(name).type) for name in (*FIELDS, "sales_buffer")}
    keys = {name: column(new, name) for name in ("sku", "barcode")}
    rows = pa.Table.from_arrays([(keys | nothing)[name] for name in BASELINE.names], schema=BASELINE)
    whole = pa.concat_tables([held, rows])
    return whole.take(pc.array_sort_indices(column(whole, "sku")))
