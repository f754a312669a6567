"""Guard `empty_feed`: an extract leaves nothing on sale."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guards.case import STOCK_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged
from shelfsync.catalog.sold_out import sold_out
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import DELTA, completed


def empty_feed(case: Case) -> Findings:
    """An extract that leaves nothing on sale."""
    active = column(case.snapshot, "active").fill_null(True)
    if pc.any(pc.and_(active, pc.invert(_sold_out(case)))).as_py():
        return
    rows = pc.or_(case.going_off, case.selling_out)
    what = "go off sale, and the extract leaves nothing on sale"
    yield from judged(case, "empty_feed", rows, case.on_sale, what, STOCK_FIELDS)


def _sold_out(case: Case) -> pa.Array:
    """Rows of the snapshot with too little stock to be sold, by the delta's buffer or, without a quantity in the delta, the last known one."""
    skus = column(case.snapshot, "sku")
    last_buffer = aligned(case.reference, skus, ["sales_buffer"])["sales_buffer"]
    delta = completed(case.delta, DELTA)
    sent = aligned(delta, skus, ["quantity", "sales_buffer"])
    buffer = pc.if_else(sent["quantity"].is_valid(), sent["sales_buffer"], last_buffer)
    return sold_out(column(case.snapshot, "quantity"), buffer, case.at_buffer)
