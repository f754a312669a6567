"""Guards over what goes off sale: by leaving the extract, by being switched off, by a whole category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import STOCK_FIELDS, Finding, count, judged, over

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.guards.case import Case


def mass_removal(case: Case) -> Iterator[Finding]:
    """Many SKUs left the extract at once: an export that was cut, a filter that grew."""
    yield from judged(case, "mass_removal", case.removed, case.on_sale, "on sale are missing from the extract")


def mass_deactivation(case: Case) -> Iterator[Finding]:
    """Many SKUs go off at once, switched off or missing together."""
    yield from judged(case, "mass_deactivation", case.going_off, case.on_sale, "on sale are switched off", STOCK_FIELDS)


def vanished_category(case: Case) -> Iterator[Finding]:
    """All of a category goes off sale: removed, switched off or without stock. What was sold out is held with it, and is no reason."""
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
