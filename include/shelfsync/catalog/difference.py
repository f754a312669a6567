"""Where a picture of the platform differs from what the ERP wants or from what was acknowledged: by whole columns, without a cause yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.columns import BASELINE, SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

DIFFERENCE = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("field", pa.string(), nullable=False),
        pa.field("desired", pa.string()),
        pa.field("acknowledged", pa.string()),
        pa.field("observed", pa.string()),
        pa.field("previous", pa.string()),  # what the picture before showed
        pa.field("pictured", pa.bool_(), nullable=False),  # whether there is a picture before that had the SKU
    ]
)
LISTED, ABSENT = "listed", "absent"


def differences(
    observed: pa.Table,
    baseline: pa.Table,
    desired: pa.Table | None,
    *,
    previous: pa.Table | None,
    complete: bool,
    quarantined: pa.Table | None = None,
) -> pa.Table:
    """Every value of a SKU we know of that may need a cause, in DIFFERENCE shape, values as plain text.

    A field that a picture shows for no SKU at all is one that it does not have. `complete`: what the ERP no longer has is wanted
    inactive. Besides real differences this has values that were never acknowledged and are shown, which may settle a lost
    confirmation, and `active` that turned without a reason to be seen.
    """
    wanted = BASELINE.empty_table() if desired is None else desired
    before = observed.slice(0, 0) if previous is None else previous
    skus = _union(column(baseline, "sku"), column(wanted, "sku"))
    here = pc.is_in(skus, value_set=column(observed, "sku"))
    pictured = pc.is_in(skus, value_set=column(before, "sku"))
    base, want = aligned(baseline, skus, BASELINE.names), aligned(wanted, skus, BASELINE.names)
    shown, then = aligned(observed, skus, SHOWN), aligned(before, skus, SHOWN)
    known_active = _known_active(base, want, here, shown, then, pictured)
    if complete and desired is not None:
        want["active"] = pc.if_else(_gone(skus, base, want, quarantined), False, want["active"])
    say, ack = dict(want), dict(base)
    say["active"], ack["active"] = _sure(want["active"], pc.coalesce(want["quantity"], base["quantity"])), known_active
    parts = []
    for name in SHOWN:
        if shown[name].null_count == len(skus):
            continue
        parts.append(_of_field(name, skus, here, say[name], ack[name], shown[name], then[name], pictured, base["sku"]))
    parts.append(_absent(skus, here, base, want, pictured))
    return pa.concat_tables(parts).sort_by([("sku", "ascending"), ("field", "ascending")])


def text_of(values: pa.Array) -> pa.Array:
    """Values as a person writes them: 3.990 as 3.99, truth as true and false."""
    if pa.types.is_decimal(values.type):
        return pc.ascii_rtrim(pc.ascii_rtrim(values.cast(pa.string()), characters="0"), characters=".")
    return values.cast(pa.string())


def _of_field(
    name: str,
    skus: pa.Array,
    here: pa.Array,
    desired: pa.Array,
    acknowledged: pa.Array,
    observed: pa.Array,
    previous: pa.Array,
    pictured: pa.Array,
    known: pa.Array,
) -> pa.Table:
    unsettled = pc.and_(pc.and_(acknowledged.is_null(), known.is_valid()), observed.is_valid())
    wrong = pc.or_(_says_other(desired, observed), _says_other(acknowledged, observed))
    rows = pc.and_(here, pc.or_(wrong, unsettled))
    texts = [text_of(values.filter(rows)) for values in (desired, acknowledged, observed, previous)]
    count = len(texts[0])
    columns = [skus.filter(rows), pa.repeat(pa.scalar(name), count), *texts, pictured.filter(rows)]
    return pa.Table.from_arrays(columns, schema=DIFFERENCE)


def _absent(
    skus: pa.Array, here: pa.Array, base: Mapping[str, pa.Array], want: Mapping[str, pa.Array], pictured: pa.Array
) -> pa.Table:
    """SKUs that the ERP has and the platform does not show at all."""
    rows = pc.and_(want["sku"].is_valid(), pc.invert(here))
    count = pc.sum(rows).as_py() or 0
    once = pc.or_(base["price"].is_valid(), pc.or_(base["active"].is_valid(), base["quantity"].is_valid())).filter(rows)
    none = pa.scalar(None, pa.string())
    columns = [
        skus.filter(rows),
        pa.repeat(pa.scalar("sku"), count),
        pa.repeat(pa.scalar(LISTED), count),
        pc.if_else(once, LISTED, none),
        pa.repeat(pa.scalar(ABSENT), count),
        pc.if_else(pictured.filter(rows), LISTED, ABSENT),
        pa.repeat(pa.scalar(value=True), count),
    ]
    return pa.Table.from_arrays(columns, schema=DIFFERENCE)


def _says_other(one: pa.Array, shown: pa.Array) -> pa.Array:
    """Rows where something is said and something else, or nothing, is shown."""
    return pc.and_(one.is_valid(), pc.invert(pc.equal(one, shown).fill_null(False)))


def _sure(active: pa.Array, quantity: pa.Array) -> pa.Array:
    """What `active` must come out as: false wins; beside a quantity the platform's sales buffer decides, and nobody knows it."""
    unsure = pc.and_(active.fill_null(True), quantity.is_valid())
    return pc.if_else(unsure, pa.scalar(None, pa.bool_()), active)


def _known_active(
    base: Mapping[str, pa.Array],
    want: Mapping[str, pa.Array],
    here: pa.Array,
    shown: Mapping[str, pa.Array],
    then: Mapping[str, pa.Array],
    pictured: pa.Array,
) -> pa.Array:
    """What was acknowledged of `active`; where a buffer decided it, what the picture before showed, while the quantity is the same."""
    sure = _sure(base["active"], base["quantity"])
    same = pc.equal(want["quantity"], base["quantity"]).fill_null(False)
    turned = pc.not_equal(shown["active"], then["active"]).fill_null(False)
    learned = pc.and_(pc.and_(here, pictured), pc.and_(pc.and_(same, turned), sure.is_null()))
    return pc.if_else(learned, then["active"], sure)


def _gone(
    skus: pa.Array, base: Mapping[str, pa.Array], want: Mapping[str, pa.Array], quarantined: pa.Table | None
) -> pa.Array:
    """SKUs that were acknowledged and have left the ERP; one in quarantine has not."""
    gone = pc.and_(base["sku"].is_valid(), want["sku"].is_null())
    if quarantined is None:
        return gone
    return pc.and_(gone, pc.invert(pc.is_in(skus, value_set=column(quarantined, "sku"), skip_nulls=True)))


def _union(one: pa.Array, other: pa.Array) -> pa.Array:
    if one.equals(other):
        return one
    both = pa.concat_arrays([one, other]).unique()
    return both.take(pc.array_sort_indices(both))
