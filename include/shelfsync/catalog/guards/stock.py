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
    """A store's stock becomes zero over its breadth: stock-taking, a warehouse that was not joined."""
    was_on = pc.invert(pc.equal(case.before["active"], False).fill_null(False))
    had = pc.and_(was_on, pc.greater(case.before["quantity"], 0).fill_null(False))
    rows = pc.and_(pc.equal(column(case.delta, "quantity"), 0).fill_null(False), had)
    in_stock = pc.and_(case.on_sale, pc.greater(column(case.baseline, "quantity"), 0).fill_null(False))
    yield from judged(case, "zero_stock", rows, in_stock, "in stock have none any more", STOCK_FIELDS)
