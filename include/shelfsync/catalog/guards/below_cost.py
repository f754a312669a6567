"""Guard `below_cost`: a new price is below the product's cost."""

from __future__ import annotations

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import PRICE_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged
from shelfsync.rows.alignment import aligned, column


def below_cost(case: Case) -> Findings:
    """A new price is below the product's cost."""
    if "cost" not in case.snapshot.column_names:  # a snapshot from before there was such a column
        return
    cost = aligned(case.snapshot, case.skus, ["cost"])["cost"]
    price = column(case.delta, "price")
    news = pc.coalesce(pc.not_equal(price, case.before["price"]), price.is_valid())
    rows = pc.and_(pc.less(price, cost).fill_null(False), news.fill_null(False))
    yield from judged(case, "below_cost", rows, case.priced, "get a price below their cost", PRICE_FIELDS)
