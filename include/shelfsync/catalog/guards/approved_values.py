"""What a person's approval of a hold lets pass in a later delta: exactly the approved values, until they are acknowledged.

Only the quantity of a new product may be another one: the product sells at the counter while it waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column, equal, same, with_column
from shelfsync.schemas import FIELDS

if TYPE_CHECKING:
    from shelfsync.catalog.guards.case import Case


def passes(case: Case, approved: pa.Table) -> dict[str, pa.Array]:
    """Field -> mask of the delta's values that are the approved ones of their SKU.

    A new product passes whole or not at all: with any quantity, if all its other values are the approved ones. At another price it needs
    a new approval.
    """
    decided = aligned(with_current_quantities(approved, case.delta), case.skus, (*FIELDS, "change"))
    new = case.new_again(decided)
    whole = new
    for name in FIELDS:
        whole = pc.and_(whole, same(column(case.delta, name), decided[name]))
    return {name: pc.if_else(new, whole, equal(column(case.delta, name), decided[name])) for name in FIELDS}


def with_current_quantities(approved: pa.Table, delta: pa.Table) -> pa.Table:
    """The approved rows (DELTA schema); new products have the delta's quantity, if the delta has all other values as approved."""
    skus = column(approved, "sku")
    now = aligned(delta, skus, (*FIELDS, "change"))
    alike = pc.and_(pc.equal(column(approved, "change"), "new"), pc.equal(now["change"], "new").fill_null(False))
    for name in FIELDS:
        if name != "quantity":
            alike = pc.and_(alike, same(column(approved, name), now[name]))
    return with_column(approved, "quantity", pc.if_else(alike, now["quantity"], column(approved, "quantity")))


def pending(delta: pa.Table, baseline: pa.Table, approved: pa.Table) -> bool:
    """Whether the delta still has an approved value that the baseline does not have.

    False: the value is acknowledged, or the ERP has another one now. A value that a full sync only repeats does not count.
    """
    skus = column(delta, "sku")
    wanted, before = (aligned(table, skus, FIELDS) for table in (approved, baseline))
    for name in FIELDS:
        values = column(delta, name)
        news = pc.invert(pc.equal(values, before[name]).fill_null(False))
        if pc.any(pc.and_(pc.equal(values, wanted[name]).fill_null(False), news)).as_py():
            return True
    return False
