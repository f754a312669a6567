"""diff: what must be sent to the platform so that it holds what the ERP holds.

Properties: `baseline.with_delta_applied` of this delta is the baseline overlaid with every value of the snapshot; SKUs that left the snapshot
are inactive in it. The diff of that result and the same snapshot is empty. A null of the snapshot is never sent, except that a SKU that was
switched off because it left is switched on when it comes back: its presence is the ERP's only statement about `active` then.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.co_sent_fields import with_active_if_single, with_co_sent_fields
from shelfsync.catalog.rejection_retry import repeats_rejected
from shelfsync.rows.alignment import (
    any_of,
    column,
    differs,
    merged,
    ordered_positions,
    padded,
    picked,
    placed,
    require_order,
    unmentioned,
)
from shelfsync.schemas import BASELINE, DELTA, FIELDS, completed

Key = Literal["sku", "barcode"]


def compute_delta(
    snapshot: pa.Table,
    baseline: pa.Table,
    *,
    full: bool,
    rejected: pa.Table | None = None,
    quarantined: pa.Table | None = None,
    key: Key = "sku",
) -> pa.Table:
    """The delta (DELTA schema, sorted by sku) from the baseline (BASELINE schema) to the snapshot (SNAPSHOT schema), both sorted by sku.

    `full`: the delta has every SKU with all its values, changed or not, and switches off again what left the ERP earlier: the platform may
    have accepted that and not applied it. `rejected`: sku and the four values that the platform rejected (a `barcode` too, if known). A row
    that only repeats them is left out, except in a full delta. `quarantined`: rows in QUARANTINE schema. Their SKUs are in the
    extract, so they keep what was acknowledged. `key`: what identifies an item. By barcode, a SKU with a
    new barcode is sent whole, and a SKU that left is switched off only if its barcode left too.

    Raises ValueError if the snapshot or the baseline is not sorted and unique by sku.
    """
    baseline = completed(baseline, BASELINE)
    skus, known = column(snapshot, "sku"), column(baseline, "sku")
    require_order(skus, "the snapshot")
    if not skus.equals(known):
        require_order(known, "the baseline")
    places = ordered_positions(skus, known)
    doubted = pa.array([], pa.string()) if quarantined is None else column(quarantined, "sku").drop_null()
    rows = _present(snapshot, baseline, places, doubted, full=full, key=key)
    gone = unmentioned(places, len(known))
    if quarantined is not None and pc.any(gone).as_py():
        gone = pc.and_(gone, pc.invert(pc.is_in(known, value_set=column(quarantined, "sku"), skip_nulls=True)))
    if not full:
        gone = pc.and_(gone, column(baseline, "active").fill_null(True))
    removed = _removed(snapshot, baseline, gone, key)
    if removed.num_rows:
        rows = merged(rows, removed)
    if rejected is not None and rejected.num_rows and not full:
        rows = rows.filter(pc.invert(repeats_rejected(rows, baseline, rejected, key)))
    return with_active_if_single(rows, baseline)


def _present(
    snapshot: pa.Table, baseline: pa.Table, places: pa.Array, doubted: pa.Array, *, full: bool, key: Key
) -> pa.Table:
    """The delta's rows about SKUs of the snapshot; `places`: the row of each in the baseline, null where it has none.

    `doubted`: SKUs with a faulty value in the extract. Their presence alone switches nothing on.
    """
    before = placed(baseline, places, FIELDS)
    now = {name: column(snapshot, name) for name in ("barcode", *FIELDS)}
    back = placed(baseline, places, ["left"])["left"].fill_null(False)
    if len(doubted):
        back = pc.and_(back, pc.invert(pc.is_in(column(snapshot, "sku"), value_set=doubted)))
    now["active"] = pc.if_else(pc.and_(back, now["active"].is_null()), True, now["active"])
    again = (
        _barcode_moved(now["barcode"], placed(baseline, places, ["barcode"])["barcode"]) if key == "barcode" else None
    )
    moved = {name: differs(now[name], before[name]) for name in FIELDS}
    if again is not None:  # any value that is not null counts
        moved = {name: pc.or_(moved[name], pc.and_(again, now[name].is_valid())) for name in FIELDS}
    changed = any_of(moved.values())
    keep = any_of(now[name].is_valid() for name in FIELDS) if full else changed
    of_kept = picked(keep)
    skus, places, changed = of_kept(column(snapshot, "sku")), of_kept(places), of_kept(changed)
    if not len(skus):
        return DELTA.empty_table()
    before = {name: of_kept(values) for name, values in before.items()}
    sent = {name: of_kept(values) for name, values in now.items()}
    if not full:
        nothing = {name: pa.scalar(None, sent[name].type) for name in FIELDS}
        sent |= {name: pc.if_else(of_kept(moved[name]), sent[name], nothing[name]) for name in FIELDS}
    sent = with_co_sent_fields(sent, before)
    change = pc.if_else(places.is_null(), "new", pc.if_else(changed, "changed", "same"))
    buffers = pa.nulls(len(skus), pa.int64())
    return pa.Table.from_arrays([skus, *(sent[name] for name in ("barcode", *FIELDS)), change, buffers], schema=DELTA)


def _removed(snapshot: pa.Table, baseline: pa.Table, gone: pa.Array, key: Key) -> pa.Table:
    """The delta's rows that switch off SKUs that left the extract (`gone`: a mask over the baseline); `same` if they are known to be off."""
    if not pc.any(gone).as_py():
        return DELTA.empty_table()
    if key == "barcode":
        called = padded(column(baseline, "barcode"))
        present = pc.is_in(called, value_set=padded(column(snapshot, "barcode")), skip_nulls=True)
        gone = pc.and_(gone, pc.and_(called.is_valid(), pc.invert(present)))
        on = column(baseline, "active").fill_null(True)
        first = called.filter(pc.and_(gone, on))
        gone = pc.and_(gone, pc.or_(on, pc.invert(pc.is_in(called, value_set=first))))
    rows = baseline.select(["sku", "barcode", "active"]).filter(gone)
    if key == "barcode":
        rows = rows.take(_first_of_each(padded(column(rows, "barcode"))))
    columns = {
        "sku": column(rows, "sku"),
        "barcode": column(rows, "barcode"),
        "active": pa.repeat(pa.scalar(False), rows.num_rows),
        "change": pc.if_else(column(rows, "active").fill_null(True), "removed", "same"),
    }
    nothing = {field.name: pa.nulls(rows.num_rows, field.type) for field in DELTA}
    return pa.Table.from_arrays(list((nothing | columns).values()), schema=DELTA)


def _first_of_each(texts: pa.Array) -> pa.Array:
    """The number of the first row of each text.

    If two SKUs share a barcode, one is sent now and the other by the next run. Sent together, their outcomes could not be distinguished.
    """
    codes = texts.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return pa.array(np.sort(np.unique(codes, return_index=True)[1]))


def _barcode_moved(now: pa.Array, before: pa.Array) -> pa.Array:
    """Rows whose barcode differs from the one that the acknowledged values were sent to; padding is no difference."""
    if now.equals(before):
        return pa.repeat(pa.scalar(False), len(now))
    return pc.not_equal(padded(now), padded(before)).fill_null(False)
