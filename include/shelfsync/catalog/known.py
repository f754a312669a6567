"""known: the last that was known of a vendor, where the baseline says of a value that nobody knows it.

A null of the baseline is said anew by the next delta (I7, I2). It must not make the guards blind meanwhile: a price that is ten times
the last one known is an accident whether or not the platform ever answered (I9). Nothing but the guards compares with it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.columns import BASELINE, FIELDS, completed


def known(baseline: pa.Table, *earlier: pa.Table) -> pa.Table:
    """The baseline (BASELINE shape) with its nulls filled from the first of the earlier tables that has a value.

    `earlier` has the columns of a baseline, sorted by sku; a quantity brings the sales buffer along that it was told against.
    """
    filled = completed(baseline, BASELINE)
    for table in earlier:
        before = aligned(completed(table, BASELINE), column(filled, "sku"), (*FIELDS, "sales_buffer"))
        columns = {name: column(filled, name) for name in BASELINE.names}
        told = pc.or_(columns["quantity"].is_valid(), before["quantity"].is_null())
        columns["sales_buffer"] = pc.if_else(told, columns["sales_buffer"], before["sales_buffer"])
        for name in FIELDS:
            columns[name] = pc.coalesce(columns[name], before[name])
        filled = pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
    return filled
