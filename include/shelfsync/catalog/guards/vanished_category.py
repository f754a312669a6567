"""Guard `vanished_category`: a whole category goes off sale."""

from __future__ import annotations

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import STOCK_FIELDS, Case, Finding, Findings, count
from shelfsync.catalog.guards.over_threshold import over


def vanished_category(case: Case) -> Findings:
    """A whole category goes off sale: removed, switched off or without stock. Sold-out SKUs are held with it, but do not trip the guard."""
    off = case.undecided(pc.or_(case.going_off, case.selling_out), STOCK_FIELDS)
    if not pc.any(off).as_py():
        return
    lost = pc.value_counts(case.category.filter(off).drop_null()).to_pylist()
    sold = pc.and_(case.on_sale, pc.invert(case.sold_out_before))
    for found in sorted(lost, key=lambda one: str(one["values"])):
        category = found["values"]
        limit = case.limits.limit("vanished_category", case.vendor, category)
        rows = pc.and_(off, pc.equal(case.category, category).fill_null(False))
        seen = count(pc.and_(rows, pc.invert(case.was_sold_out)))
        everything = count(pc.and_(sold, pc.equal(case.category_before, category).fill_null(False)))
        if over("vanished_category", limit, seen, everything):
            message = f"category {category}: {seen} of {everything} SKUs on sale go off at once, as if the whole category were gone"
            yield Finding(rows, "vanished_category", message, limit.model_dump(), category, STOCK_FIELDS)
