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
from shelfsync.catalog.restore import RESTORED
from shelfsync.rows.alignment import aligned, any_of, column, same, with_column
from shelfsync.schemas import BASELINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.catalog.delta import Key
    from shelfsync.catalog.guards.case import Case

_BOTTOM = 0
"""The layer without any restoration; the number of a restoration names what was acknowledged before that restoration began."""

UNRESTORED = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("layer", pa.int64(), nullable=False),
        *(BASELINE.field(name) for name in RESTORED),  # null: as acknowledged
    ]
)
"""Sorted by layer, then by sku; unique."""


def as_unrestored(case: Case, unrestored: pa.Table | None) -> Case:
    """The case as the guards judge it: a value that a restoration changed counts as it would be without, and may return to that."""
    if unrestored is None or unrestored.num_rows == 0:
        return case
    return replace(case, known=with_unrestored(case.reference, unrestored), passing=_reverts(case.delta, unrestored))


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
    shown = _table(known, {name: column(known, name) for name in RESTORED}, _BOTTOM + 1)
    return replace(case, delta=delta, snapshot=erp, baseline=base, known=None, passing=_reverts(delta, shown))


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
    tables = [_ordered(_table(known, bottom, _BOTTOM), _brought_back(case, erp))]
    seen = [] if unrestored is None else pc.unique(unrestored["layer"]).to_pylist()
    tables += [
        _rows_of_layer(unrestored, number) if number in seen else _table(known, above, number)
        for number in sorted(restorations)[1:]
    ]
    return pa.concat_tables(tables).combine_chunks()


def _brought_back(case: Case, erp: pa.Table) -> pa.Table:
    """SKUs that only a restoration brings: without it they would not be on sale."""
    skus = column(case.snapshot, "sku")
    for table in (erp, case.baseline):
        skus = skus.filter(pc.invert(pc.is_in(skus, value_set=column(table, "sku"))))
    columns = {name: pa.nulls(len(skus), UNRESTORED.field(name).type) for name in RESTORED}
    columns |= {"sku": skus, "layer": pa.repeat(pa.scalar(_BOTTOM, pa.int64()), len(skus))}
    columns["active"] = pa.repeat(pa.scalar(False), len(skus))
    return pa.Table.from_arrays([columns[name] for name in UNRESTORED.names], schema=UNRESTORED)


def _ordered(one: pa.Table, other: pa.Table) -> pa.Table:
    if other.num_rows == 0:
        return one
    whole = pa.concat_tables([one, other]).combine_chunks()
    return whole.take(pc.array_sort_indices(column(whole, "sku")))


def _table(known: pa.Table, values: dict[str, pa.Array], layer: int) -> pa.Table:
    """One layer: the rows with a value."""
    columns = [column(known, "sku"), pa.repeat(pa.scalar(layer, pa.int64()), known.num_rows), *values.values()]
    return pa.Table.from_arrays(columns, schema=UNRESTORED).filter(any_of(one.is_valid() for one in values.values()))


def with_unrestored(known: pa.Table, unrestored: pa.Table | None) -> pa.Table:
    """What is known of a vendor (BASELINE schema), with the values that it would have without any restoration."""
    if unrestored is None or unrestored.num_rows == 0:
        return known
    bottom = aligned(_rows_of_layer(unrestored, _BOTTOM), column(known, "sku"), RESTORED)
    for name in RESTORED:
        known = with_column(known, name, pc.coalesce(bottom[name], column(known, name)))
    return known


def _reverts(delta: pa.Table, unrestored: pa.Table | None) -> dict[str, pa.Array]:
    """Field -> mask of the delta's rows whose value only reverts to that from before a restoration; empty without restorations."""
    if unrestored is None or unrestored.num_rows == 0:
        return {}
    skus = column(delta, "sku")
    masks = {name: pa.repeat(pa.scalar(False), delta.num_rows) for name in RESTORED}
    for layer in pc.unique(unrestored["layer"]).to_pylist():
        values = aligned(_rows_of_layer(unrestored, layer), skus, RESTORED)
        for name in RESTORED:
            same = pc.equal(column(delta, name), values[name]).fill_null(False)
            masks[name] = pc.or_(masks[name], same)
    return masks


def _rows_of_layer(unrestored: pa.Table, layer: int) -> pa.Table:
    """The rows of one layer (UNRESTORED schema)."""
    return unrestored.filter(pc.equal(unrestored["layer"], layer))
