"""The baseline, what the platform acknowledged, moves by what the platform accepted, SKU by SKU, and by nothing else (I2).

If the platform reports no outcome for a value that was sent, the platform may hold the old value or the new one. It becomes null (I7), and
the next delta sends it again. The guards must not be blind meanwhile (I9): they compare with the last known values, which `known` fills in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.rejection_kind import kind_of
from shelfsync.rows.alignment import aligned, any_of, column, placed, positions, same, unmentioned
from shelfsync.schemas import BASELINE, DELTA, FIELDS, completed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence


def with_accepted(baseline: pa.Table, items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """The new baseline (BASELINE schema, sorted by sku) after a job with `items` (DELTA schema) ended in `outcomes` (OUTCOME schema).

    A SKU moves only if each of its outcomes has the state `accepted`; only the fields that were sent move.
    """
    skus, states = column(outcomes, "sku"), column(outcomes, "state")
    accepted = pc.equal(states, "accepted")
    sent = column(items, "sku")
    moves = pc.and_(
        pc.is_in(sent, value_set=skus.filter(accepted)),
        pc.invert(pc.is_in(sent, value_set=skus.filter(pc.invert(accepted)))),
    )
    return with_delta_applied(items.filter(moves), baseline)


def with_delta_applied(delta: pa.Table, baseline: pa.Table) -> pa.Table:
    """The state of the platform once it has accepted all of the delta: BASELINE schema, sorted by sku.

    `delta` may be any table with a delta's columns.
    """
    delta, baseline = completed(delta, DELTA), completed(baseline, BASELINE)
    changes, known = column(delta, "sku"), column(baseline, "sku")
    places = positions(known, changes)
    sent = placed(delta, places, [*BASELINE.names[1:-1], "change"])
    values = {name: pc.coalesce(sent[name], column(baseline, name)) for name in BASELINE.names[1:-2]}
    buffer_before = column(baseline, "sales_buffer")  # it belongs to the quantity and goes with it, unknown or not
    values["sales_buffer"] = pc.if_else(sent["quantity"].is_valid(), sent["sales_buffer"], buffer_before)
    values["left"] = _left(sent, column(baseline, "left"))
    result = pa.Table.from_arrays([known, *values.values()], schema=BASELINE)
    new = unmentioned(places, len(changes))
    if not pc.any(new).as_py():
        return result
    result = pa.concat_tables(
        [result, completed(delta.select(BASELINE.names[:-1]).filter(new), BASELINE).cast(BASELINE)]
    )
    return result.take(pc.array_sort_indices(column(result, "sku")))


def _left(sent: dict[str, pa.Array], before: pa.Array) -> pa.Array:
    """The column `left` after a delta: true for what it removes, null for any other `active`.

    A full sync switches off again what left earlier (`same`, `active` alone): that changes nothing.
    """
    removed = pc.equal(sent["change"], "removed").fill_null(False)
    again = pc.equal(sent["change"], "same").fill_null(False)
    for name in FIELDS:
        again = pc.and_(again, pc.or_(sent[name].is_null(), name == "active"))
    stated = pc.and_(sent["active"].is_valid(), pc.invert(again))
    return pc.if_else(removed, True, pc.if_else(stated, pa.scalar(None, pa.bool_()), before))


def with_unconfirmed(baseline: pa.Table, items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """The baseline (BASELINE schema, sorted by sku) in which the fields of `items` (DELTA schema) sent for unaccounted SKUs are null.

    `outcomes`: OUTCOME schema. The next delta sends these fields again, even if the ERP has reverted to the acknowledged value. A SKU that
    the baseline does not have is added without values, so that it is switched off if it leaves the ERP.
    """
    baseline = completed(baseline, BASELINE)
    unaccounted = column(outcomes, "sku").filter(pc.equal(column(outcomes, "state"), "unaccounted"))
    sent = items.filter(pc.is_in(column(items, "sku"), value_set=unaccounted))
    known = column(baseline, "sku")
    values = aligned(sent, known, FIELDS)
    columns = {name: column(baseline, name) for name in BASELINE.names}
    for name in FIELDS:
        columns[name] = pc.if_else(values[name].is_valid(), pa.scalar(None, columns[name].type), columns[name])
    removed = column(sent, "sku").filter(pc.equal(column(sent, "change"), "removed"))
    columns["left"] = pc.if_else(pc.is_in(known, value_set=removed), True, columns["left"])
    result = pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
    new = sent.filter(pc.invert(pc.is_in(column(sent, "sku"), value_set=known)))
    if not new.num_rows:
        return result
    nothing = {name: pa.nulls(new.num_rows, BASELINE.field(name).type) for name in (*FIELDS, "sales_buffer", "left")}
    keys = {name: column(new, name) for name in ("sku", "barcode")}
    rows = pa.Table.from_arrays([(keys | nothing)[name] for name in BASELINE.names], schema=BASELINE)
    whole = pa.concat_tables([result, rows])
    return whole.take(pc.array_sort_indices(column(whole, "sku")))


def changed_rows(moved: pa.Table, before: pa.Table, names: Sequence[str] = FIELDS) -> pa.Table:
    """The rows of a moved baseline with another value in one of these columns than before, and the SKUs that were not there.

    Both have columns of BASELINE, sorted by sku. A SKU that left is not named.
    """
    places = positions(column(moved, "sku"), column(before, "sku"))
    earlier = placed(before, places, names)
    moves = (pc.invert(same(column(moved, name), earlier[name])) for name in names)
    return moved.filter(any_of([places.is_null(), *moves]))


def gone_everywhere(
    rejected: Iterable[Mapping[str, Any]],
    words: Mapping[Any, Sequence[str]],
    skus_in_erp: Callable[[], Collection[str]],
) -> list[str]:
    """Of rejected SKUs, those that were switched off because they left the ERP, and that the platform does not know. They leave the baseline.

    `rejected`: `sku`, `active` and `reason` of each. `words`: the operator's own for the kinds of a rejection. `skus_in_erp` is called only if
    a SKU was switched off and is unknown.
    """
    unknown = {row["sku"] for row in rejected if not row["active"] and kind_of(row["reason"], words) == "unknown_sku"}
    return sorted(unknown.difference(skus_in_erp())) if unknown else []


def without(baseline: pa.Table, skus: list[str]) -> pa.Table:
    """The baseline without these SKUs: neither the ERP nor the platform has them any more."""
    return baseline.filter(pc.invert(pc.is_in(column(baseline, "sku"), value_set=pa.array(skus, pa.string()))))


def known(baseline: pa.Table, *earlier: pa.Table) -> pa.Table:
    """The baseline (BASELINE schema) with its nulls filled from the first of the earlier tables that has a value.

    `earlier`: tables with the columns of a baseline, sorted by sku. A quantity comes with the sales buffer of the time of its sending.
    """
    filled = completed(baseline, BASELINE)
    for table in earlier:
        before = aligned(completed(table, BASELINE), column(filled, "sku"), (*FIELDS, "sales_buffer"))
        columns = {name: column(filled, name) for name in BASELINE.names}
        keeps_buffer = pc.or_(columns["quantity"].is_valid(), before["quantity"].is_null())
        columns["sales_buffer"] = pc.if_else(keeps_buffer, columns["sales_buffer"], before["sales_buffer"])
        for name in FIELDS:
            columns[name] = pc.coalesce(columns[name], before[name])
        filled = pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
    return filled
