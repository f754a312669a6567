"""Guard `zero_stock`: a store's stock becomes zero over its breadth."""

from __future__ import annotations

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import STOCK_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged
from shelfsync.rows.alignment import column


def zero_stock(case: Case) -> Findings:
    """A store's stock becomes zero, or too little to be sold, over its breadth: stock-taking, a warehouse that was not joined."""
    was_on = pc.invert(pc.equal(case.before["active"], False).fill_null(False))
    rows = pc.and_(case.selling_out, was_on)
    known = column(case.reference, "quantity").is_valid()
    in_stock = pc.and_(case.on_sale, pc.and_(known, pc.invert(case.sold_out_before)))
    what = "in stock have none any more, or less than their sales buffer"
    yield from judged(case, "zero_stock", rows, in_stock, what, STOCK_FIELDS)
