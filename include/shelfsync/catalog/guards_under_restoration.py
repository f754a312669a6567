"""What the guards make of the ERP's changes under a restoration: what the platform would hold of a vendor without its restorations.

The guards compare with that: a price that jumps because a restoration ends is no accident, and one that jumps in the ERP meanwhile is one.
For each SKU that a restoration changes, UNRESTORED has the values that would be acknowledged without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.restore import BOTTOM, RESTORED, UNRESTORED, reverts, rows_of_layer, with_unrestored
from shelfsync.rows.alignment import aligned, any_of, column, same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.catalog.delta import Key
    from shelfsync.catalog.guard_case import Case


def as_unrestored(case: Case, unrestored: pa.Table | None) -> Case:
    """The case as the guards judge it: a value that a restoration changed counts as it would be without, and may return to that."""
    if unrestored is None or unrestored.num_rows == 0:
        return case
    return replace(case, known=with_unrestored(case.reference, unrestored), passing=reverts(case.delta, unrestored))


def without_restorations(
    case: Case, unrestored: pa.Table | None, erp: pa.Table, *, quarantined: pa.Table | None, complete: bool, key: Key
) -> Case:
    """The case as it would be without restorations: from what would be acknowledged to the ERP's own snapshot (`erp`, SNAPSHOT schema).

    `case`: as acknowledged. `unrestored`: as the extract before left it (UNRESTORED schema); None: no restoration made a difference.
    """
    known = case.reference
    base = with_unrestored(known, unrestored)
    delta = compute_delta(erp, base, full=False, quarantined=quarantined, key=key)
    if not complete:
        delta = delta.filter(pc.not_equal(delta["change"], "removed"))
    shown = _table(known, {name: column(known, name) for name in RESTORED}, BOTTOM + 1)
    return replace(case, delta=delta, snapshot=erp, baseline=base, known=None, passing=reverts(delta, shown))


def next_unrestored(
    case: Case, unrestored: pa.Table | None, erp: pa.Table, released: pa.Table, restorations: Sequence[int]
) -> pa.Table:
    """The unrestored values after an extract (UNRESTORED schema): those that the guards release of the case `without_restorations`.

    `case` and `unrestored`: as there. `released`: DELTA schema. `restorations`: the numbers of those in force on the snapshot. Empty if no restoration makes a difference.
    """
    known = case.reference
    skus = column(known, "sku")
    before, now = with_unrestored(known, unrestored), aligned(released, skus, RESTORED)
    of_erp, wanted = (aligned(table, skus, RESTORED) for table in (erp, case.snapshot))
    bottom, above = {}, {}
    for name in RESTORED:
        values, held = pc.coalesce(now[name], column(before, name)), column(known, name)
        matters = pc.invert(pc.and_(same(values, held), same(of_erp[name], wanted[name])))
        nothing = pa.scalar(None, values.type)
        bottom[name] = pc.if_else(matters, values, nothing)
        above[name] = pc.if_else(same(held, wanted[name]), nothing, held)
    tables = [_ordered(_table(known, bottom, BOTTOM), _brought_back(case, erp))]
    seen = [] if unrestored is None else pc.unique(unrestored["layer"]).to_pylist()
    tables += [
        _layer_of(unrestored, number) if number in seen else _table(known, above, number)
        for number in sorted(restorations)[1:]
    ]
    return pa.concat_tables(tables).combine_chunks()


def _brought_back(case: Case, erp: pa.Table) -> pa.Table:
    """SKUs that only a restoration brings: without it they would not be on sale."""
    skus = column(case.snapshot, "sku")
    for table in (erp, case.baseline):
        skus = skus.filter(pc.invert(pc.is_in(skus, value_set=column(table, "sku"))))
    columns = {name: pa.nulls(len(skus), UNRESTORED.field(name).type) for name in RESTORED}
    columns |= {"sku": skus, "layer": pa.repeat(pa.scalar(BOTTOM, pa.int64()), len(skus))}
    columns["active"] = pa.repeat(pa.scalar(False), len(skus))
    return pa.Table.from_arrays([columns[name] for name in UNRESTORED.names], schema=UNRESTORED)


def _ordered(one: pa.Table, other: pa.Table) -> pa.Table:
    if other.num_rows == 0:
        return one
    whole = pa.concat_tables([one, other]).combine_chunks()
    return whole.take(pc.array_sort_indices(column(whole, "sku")))


def _layer_of(unrestored: pa.Table | None, layer: int) -> pa.Table:
    return UNRESTORED.empty_table() if unrestored is None else rows_of_layer(unrestored, layer)


def _table(known: pa.Table, values: dict[str, pa.Array], layer: int) -> pa.Table:
    """One layer: the rows with a value."""
    columns = [column(known, "sku"), pa.repeat(pa.scalar(layer, pa.int64()), known.num_rows), *values.values()]
    return pa.Table.from_arrays(columns, schema=UNRESTORED).filter(any_of(one.is_valid() for one in values.values()))
