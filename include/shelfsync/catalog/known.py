"""known: the last known values of a vendor, where the baseline has a null because the platform's value is unknown.

The next delta sends a null of the baseline again (I7, I2). The guards must not be blind meanwhile: a price that is ten times the last known
one is an accident, whether or not the platform reported an outcome (I9). Only the guards compare with these values.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.schemas import BASELINE, FIELDS, completed


def known(baseline: pa.Table, *earlier: pa.Table) -> pa.Table:
    """The baseline (BASELINE schema) with its nulls filled from the first of the earlier tables that has a value.

    `earlier`: tables with the columns of a baseline, sorted by sku. A quantity comes with the sales buffer of the time of its sending.
    """
    filled = completed(baseline, BASELINE)
    for table in earlier:
        before = aligned(completed(table, BASELINE), column(filled, "sku"), (*FIELDS, "sales_buffer"))
        columns = {name: column(filled, name) for name in BASELINE.names}
        keeps_buffer = pc.or_(columns["quantity"].is_valid(), before["quantity"].is_null())
        columns["sales_buffer"] = pc.if_else(keeps_buffer, columns["sales_buffer"], before["sales_buffer"])
        for name in FIELDS:
            columns[name] = pc.coalesce(columns[name], before[name])
        filled = pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
    return filled
