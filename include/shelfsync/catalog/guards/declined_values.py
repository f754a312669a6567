"""What a declined or expired hold keeps back in a later delta: the same values, as long as the ERP may have them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column, equal, same
from shelfsync.schemas import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.guards.held_changes import HeldChanges


def stays(case: Case, declined: pa.Table) -> dict[str, pa.Array]:
    """Field -> mask of the delta's values that are the declined ones of their SKU.

    A new product stays held whole as long as its price is the declined one. A sale at the counter changes its quantity and makes it no
    other product. Without its price, the rest of its row would put it on sale at a price that the platform has from elsewhere.
    """
    decided = aligned(declined, case.skus, (*FIELDS, "change"))
    new, priced = case.new_again(decided), same(column(case.delta, "price"), decided["price"])
    return {name: pc.if_else(new, priced, equal(column(case.delta, name), decided[name])) for name in FIELDS}


def unwanted(case: Case, declined: Iterable[pa.Table]) -> pa.Array:
    """A mask of the new products that a person declined as new, whatever their values are now. `declined`: rows (DELTA schema) of those holds."""
    rows = pa.repeat(pa.scalar(False), case.delta.num_rows)
    for one in declined:
        rows = pc.or_(rows, case.new_again(aligned(one, case.skus, ("change",))))
    return rows


def unseen(declined: pa.Table, shown: pa.Array, quarantined: pa.Array, *, complete: bool) -> pa.Table:
    """The declined rows about which an extract proves nothing: the ERP may have these values still.

    `shown`: the SKUs of its snapshot. A SKU that is not among them is quarantined, or the extract is not complete.
    """
    skus = column(declined, "sku")
    may_be_there = pc.is_in(skus, value_set=quarantined.drop_null()) if complete else True
    return declined.filter(pc.and_(pc.invert(pc.is_in(skus, value_set=shown)), may_be_there))


def with_unseen(held_changes: Iterable[HeldChanges], unseen: Iterable[HeldChanges]) -> list[HeldChanges]:
    """The held changes together with the rows of the same declined holds (by `carried`) that the extract does not show."""
    left = {one.carried: one for one in unseen if one.rows.num_rows}
    whole = []
    for one in held_changes:
        more = None if one.carried is None else left.pop(one.carried, None)
        if more is not None:
            rest = more.rows.filter(pc.invert(pc.is_in(more.rows["sku"], value_set=column(one.rows, "sku"))))
            one = replace(one, rows=pa.concat_tables([one.rows, rest]).sort_by("sku"))  # noqa: PLW2901
        whole.append(one)
    return [*whole, *left.values()]
