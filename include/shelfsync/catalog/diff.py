"""diff: what must be said to the platform so that it comes to hold what the ERP says.

Laws: apply(diff(snapshot, baseline), baseline) is the baseline overlaid with all that the snapshot says, SKUs that left it inactive;
diff of that result and the same snapshot is empty. What a snapshot says null about is not talked about.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import companion
from shelfsync.catalog.alignment import aligned, column, placed, positions, require_order, unmentioned
from shelfsync.catalog.barcode import padded
from shelfsync.columns import BASELINE, DELTA, FIELDS, completed

Key = Literal["sku", "barcode"]


def diff(
    snapshot: pa.Table,
    baseline: pa.Table,
    *,
    full: bool,
    refused: pa.Table | None = None,
    quarantined: pa.Table | None = None,
    key: Key = "sku",
) -> pa.Table:
    """The delta (DELTA shape, sorted by sku) from what was acknowledged to what the ERP says.

    `full`: every SKU with all that is said of it, changed or not. `refused`: sku and the four values that the platform refused (a
    `barcode` too, if known); a row that would only repeat them is left out, except in a full delta. `quarantined`: rows in QUARANTINE
    shape; their SKUs are in the extract, so they have not left it and keep what was acknowledged. `key`: what items are called by; by
    barcode, a SKU with a new barcode says everything again, and one that left is only switched off if its barcode left too.
    """
    baseline = completed(baseline, BASELINE)
    skus, known = column(snapshot, "sku"), column(baseline, "sku")
    require_order(skus, "the snapshot")
    require_order(known, "the baseline")
    places = positions(skus, known)
    rows = _present(snapshot, baseline, places, full=full, key=key)
    removed = _removed(snapshot, baseline, unmentioned(places, len(known)), quarantined, key)
    if removed.num_rows:
        rows = pa.concat_tables([rows, removed])
        rows = rows.take(pc.array_sort_indices(column(rows, "sku")))
    if refused is not None and refused.num_rows and not full:
        rows = rows.filter(pc.invert(_repeats(rows, baseline, refused, key)))
    return companion.alone(rows, baseline)


def apply(delta: pa.Table, baseline: pa.Table) -> pa.Table:
    """What the platform holds once all of the delta is accepted: BASELINE shape, sorted by sku. Takes any table with a delta's columns."""
    delta, baseline = completed(delta, DELTA), completed(baseline, BASELINE)
    changes, known = column(delta, "sku"), column(baseline, "sku")
    places = positions(known, changes)
    said = placed(delta, places, BASELINE.names[1:])
    kept = {name: pc.coalesce(said[name], column(baseline, name)) for name in BASELINE.names[1:-1]}
    told_before = column(baseline, "sales_buffer")  # it belongs to the quantity and goes with it, unknown or not
    kept["sales_buffer"] = pc.if_else(said["quantity"].is_valid(), said["sales_buffer"], told_before)
    result = pa.Table.from_arrays([known, *kept.values()], schema=BASELINE)
    new = unmentioned(places, len(changes))
    if not pc.any(new).as_py():
        return result
    result = pa.concat_tables([result, delta.select(BASELINE.names).filter(new).cast(BASELINE)])
    return result.take(pc.array_sort_indices(column(result, "sku")))


def _present(snapshot: pa.Table, baseline: pa.Table, places: pa.Array, *, full: bool, key: Key) -> pa.Table:
    """The delta's rows about SKUs of the snapshot; `places`: the row of each in the baseline, null where it has none."""
    before = placed(baseline, places, FIELDS)
    now = {name: column(snapshot, name) for name in ("barcode", *FIELDS)}
    again = (
        _barcode_moved(now["barcode"], placed(baseline, places, ["barcode"])["barcode"]) if key == "barcode" else None
    )
    differs = {name: _differs(now[name], before[name], again) for name in FIELDS}
    changed = _any_of(list(differs.values()))
    keep = _any_of([now[name].is_valid() for name in FIELDS]) if full else changed
    skus, places, changed = column(snapshot, "sku").filter(keep), places.filter(keep), changed.filter(keep)
    before = {name: values.filter(keep) for name, values in before.items()}
    sent = {name: values.filter(keep) for name, values in now.items()}
    if not full:
        nothing = {name: pa.scalar(None, sent[name].type) for name in FIELDS}
        sent |= {name: pc.if_else(differs[name].filter(keep), sent[name], nothing[name]) for name in FIELDS}
    sent = companion.accompanied(sent, before)
    change = pc.if_else(places.is_null(), "new", pc.if_else(changed, "changed", "same"))
    unsaid = pa.nulls(len(skus), pa.int64())
    return pa.Table.from_arrays([skus, *(sent[name] for name in ("barcode", *FIELDS)), change, unsaid], schema=DELTA)


def _differs(now: pa.Array, before: pa.Array, again: pa.Array | None) -> pa.Array:
    """Rows where something is said and it is not what the baseline says; `again`: rows where what is said counts anyway."""
    said = now.is_valid()
    differs = pc.coalesce(pc.not_equal(now, before), said)  # not comparable: one of them is null
    return differs if again is None else pc.or_(differs, pc.and_(again, said))


def _removed(
    snapshot: pa.Table, baseline: pa.Table, gone: pa.Array, quarantined: pa.Table | None, key: Key
) -> pa.Table:
    """The delta's rows about SKUs that left the extract (`gone`: a mask over the baseline) and are not known to be inactive already."""
    known = column(baseline, "sku")
    if not pc.any(gone).as_py():
        return DELTA.empty_table()
    gone = pc.and_(gone, column(baseline, "active").fill_null(True))
    if quarantined is not None:
        gone = pc.and_(gone, pc.invert(pc.is_in(known, value_set=column(quarantined, "sku"), skip_nulls=True)))
    if key == "barcode":
        called = padded(column(baseline, "barcode"))
        present = pc.is_in(called, value_set=padded(column(snapshot, "barcode")), skip_nulls=True)
        gone = pc.and_(gone, pc.and_(called.is_valid(), pc.invert(present)))
    rows = baseline.select(["sku", "barcode"]).filter(gone)
    if key == "barcode":
        rows = rows.take(_first_of_each(padded(column(rows, "barcode"))))
    count = rows.num_rows
    columns = {
        "sku": column(rows, "sku"),
        "barcode": column(rows, "barcode"),
        "active": pa.repeat(pa.scalar(False), count),
        "change": pa.repeat(pa.scalar("removed"), count),
    }
    return pa.Table.from_arrays([columns.get(field.name, pa.nulls(count, field.type)) for field in DELTA], schema=DELTA)


def _first_of_each(texts: pa.Array) -> pa.Array:
    """The rows where each text stands first.

    Of two SKUs that share a barcode one goes now and the other next time: together their outcomes could not be told apart.
    """
    codes = texts.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return pa.array(np.sort(np.unique(codes, return_index=True)[1]))


def _repeats(rows: pa.Table, baseline: pa.Table, refused: pa.Table, key: Key) -> pa.Array:
    """Rows that say nothing but what was refused, while the ERP still wants all that was refused then."""
    skus = column(rows, "sku")
    wanted_then = _wanted_then(refused, skus, key)
    before = aligned(baseline, skus, FIELDS)
    repeats = wanted_then["sku"].is_valid()
    for name in FIELDS:
        then, now = wanted_then[name], column(rows, name)
        desired = pc.coalesce(now, before[name])
        nothing_new = pc.or_(now.is_null(), _equal(now, before[name]))  # a companion brings no news either
        repeats = pc.and_(repeats, pc.or_(nothing_new, _equal(then, now)))
        repeats = pc.and_(repeats, pc.or_(then.is_null(), _equal(then, desired)))
    if "barcode" in wanted_then:
        then, now = padded(wanted_then["barcode"]), padded(column(rows, "barcode"))
        repeats = pc.and_(repeats, pc.equal(then, now).fill_null(True))
    return repeats


def _wanted_then(refused: pa.Table, skus: pa.Array, key: Key) -> dict[str, pa.Array]:
    """What was refused of these SKUs; all null where nothing was."""
    names = ["sku", *FIELDS, *(["barcode"] if key == "barcode" and "barcode" in refused.column_names else [])]
    table = refused.select(names).cast(pa.schema([DELTA.field(name) for name in names]))
    return aligned(table, skus, names)


def _equal(one: pa.Array, other: pa.Array) -> pa.Array:
    """Both said and the same."""
    return pc.equal(one, other).fill_null(False)


def _barcode_moved(now: pa.Array, before: pa.Array) -> pa.Array:
    """Rows that are now called by another barcode than the acknowledged values went to; padding is no difference."""
    if now.equals(before):
        return pa.repeat(pa.scalar(False), len(now))
    return pc.not_equal(padded(now), padded(before)).fill_null(False)


def _any_of(masks: list[pa.Array]) -> pa.Array:
    result = masks[0]
    for mask in masks[1:]:
        result = pc.or_(result, mask)
    return result
