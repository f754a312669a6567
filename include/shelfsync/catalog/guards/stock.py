"""Guards over quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.catalog.alignment import column
from shelfsync.catalog.guards.case import STOCK_FIELDS, Finding, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.guards.case import Case


def zero_stock(case: Case) -> Iterator[Finding]:
    """A store's stock becomes zero, or too little to be sold, over its breadth: stock-taking, a warehouse that was not joined."""
    was_on = pc.invert(pc.equal(case.before["active"], False).fill_null(False))
    rows = pc.and_(case.selling_out, was_on)
    known = column(case.reference, "quantity").is_valid()
    in_stock = pc.and_(case.on_sale, pc.and_(known, pc.invert(case.sold_out_before)))
    what = "in stock have none any more, or less than their sales buffer"
    yield from judged(case, "zero_stock", rows, in_stock, what, STOCK_FIELDS)
