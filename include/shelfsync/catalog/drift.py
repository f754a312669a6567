"""Where an observed state of the platform differs from what the ERP wants or from what was acknowledged, without a cause yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.sales_buffers import KNOWN_BUFFERS, Buffers
from shelfsync.rows.alignment import aligned, column, differs
from shelfsync.rows.item import shortest
from shelfsync.schemas import BASELINE, SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

DIFFERENCE = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("field", pa.string(), nullable=False),
        pa.field("desired", pa.string()),
        pa.field("acknowledged", pa.string()),
        pa.field("observed", pa.string()),
        pa.field("previous", pa.string()),  # the value in the previous observation
        pa.field("listed_before", pa.bool_(), nullable=False),  # whether the previous observation had the SKU
        pa.field("unconfirmed", pa.bool_(), nullable=False),  # the baseline has the SKU without this value
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
    buffers: Buffers | None = None,
) -> pa.Table:
    """Every value of the SKUs of baseline and `desired` that may need a cause, in DIFFERENCE schema, values as plain text.

    `observed`, `previous`: this observation and the one before (OBSERVED schema); `baseline`: BASELINE schema; `desired`: SNAPSHOT schema.
    `buffers`: what is known of the sales buffers. A quantity beside a known buffer decides `active`, and so does no stock beside an unknown
    one, whether or not the ERP states `active`. A field that is null for every observed SKU is not compared. `complete`: a SKU that the ERP no longer has should be inactive. The
    result also has unconfirmed values that the platform shows, and values of `active` that changed without a visible reason.
    """
    wanted = BASELINE.empty_table() if desired is None else desired
    before = observed.slice(0, 0) if previous is None else previous
    skus = _union(column(baseline, "sku"), column(wanted, "sku"))
    here = pc.is_in(skus, value_set=column(observed, "sku"))
    listed_before = pc.is_in(skus, value_set=column(before, "sku"))
    base, want = (aligned(table, skus, BASELINE.names[:-1]) for table in (baseline, wanted))
    shown, then = aligned(observed, skus, SHOWN), aligned(before, skus, SHOWN)
    buffers = buffers or Buffers(KNOWN_BUFFERS.empty_table())
    buffer = buffers.of(skus)
    sent_at = pc.coalesce(base["sales_buffer"], buffer)
    known_active = _known_active(
        base, want, here, shown, then, listed_before, _decided(base["quantity"], sent_at, buffers)
    )
    if complete and desired is not None:
        want["active"] = pc.if_else(_gone(skus, base, want, quarantined), False, want["active"])
    desired_values, acknowledged = dict(want), dict(base)
    quantity = pc.coalesce(want["quantity"], base["quantity"])
    desired_values["active"] = _sure(want["active"], quantity, _decided(quantity, buffer, buffers))
    acknowledged["active"] = known_active
    parts = []
    for name in SHOWN:
        if shown[name].null_count == len(skus):
            continue
        values = (desired_values[name], acknowledged[name], shown[name], then[name])
        unconfirmed = pc.and_(base["sku"].is_valid(), base[name].is_null())
        parts.append(_of_field(name, skus, here, *values, listed_before, unconfirmed))
    parts.append(_absent(skus, here, base, want, listed_before))
    return pa.concat_tables(parts).sort_by([("sku", "ascending"), ("field", "ascending")])


def undecided(observed: pa.Table, desired: pa.Table, buffers: Buffers) -> int:
    """How many shown SKUs are on or off sale by a sales buffer that is not known: their `active` is not compared."""
    skus = column(desired, "sku")
    quantity = column(desired, "quantity")
    sure = _sure(column(desired, "active"), quantity, _decided(quantity, buffers.of(skus), buffers))
    shown = aligned(observed, skus, ["active"])["active"]
    return int(pc.sum(pc.and_(pc.and_(sure.is_null(), quantity.is_valid()), shown.is_valid())).as_py() or 0)


def _of_field(
    name: str,
    skus: pa.Array,
    here: pa.Array,
    desired: pa.Array,
    acknowledged: pa.Array,
    observed: pa.Array,
    previous: pa.Array,
    listed_before: pa.Array,
    unconfirmed: pa.Array,
) -> pa.Table:
    wrong = pc.or_(differs(desired, observed), differs(acknowledged, observed))
    rows = pc.and_(here, pc.or_(wrong, pc.and_(unconfirmed, observed.is_valid())))
    texts = [shortest(values.filter(rows)) for values in (desired, acknowledged, observed, previous)]
    count = len(texts[0])
    columns = [
        skus.filter(rows),
        pa.repeat(pa.scalar(name), count),
        *texts,
        listed_before.filter(rows),
        unconfirmed.filter(rows),
    ]
    return pa.Table.from_arrays(columns, schema=DIFFERENCE)


def _absent(
    skus: pa.Array, here: pa.Array, base: Mapping[str, pa.Array], want: Mapping[str, pa.Array], listed_before: pa.Array
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
        pc.if_else(listed_before.filter(rows), LISTED, ABSENT),
        pa.repeat(pa.scalar(value=True), count),
        pa.repeat(pa.scalar(value=False), count),
    ]
    return pa.Table.from_arrays(columns, schema=DIFFERENCE)


def _decided(quantity: pa.Array, buffer: pa.Array, buffers: Buffers) -> pa.Array:
    """Whether a quantity puts the product on sale: by its buffer. Without a known buffer only no stock decides; else null."""
    no_stock = pc.if_else(pc.less_equal(quantity, 0), pa.scalar(False), pa.scalar(None, pa.bool_()))
    return pc.coalesce(buffers.switches_on(quantity, buffer), no_stock)


def _sure(active: pa.Array, quantity: pa.Array, decided: pa.Array) -> pa.Array:
    """The `active` that the platform must show: false wins, then the quantity decides. Null where an unknown sales buffer does."""
    by_quantity = pc.and_(active.fill_null(True), quantity.is_valid())
    return pc.if_else(by_quantity, decided, active)


def _known_active(
    base: Mapping[str, pa.Array],
    want: Mapping[str, pa.Array],
    here: pa.Array,
    shown: Mapping[str, pa.Array],
    then: Mapping[str, pa.Array],
    listed_before: pa.Array,
    decided: pa.Array,
) -> pa.Array:
    """The acknowledged `active`; if a sales buffer decides, the previously observed one, as long as the quantity is the same."""
    sure = _sure(base["active"], base["quantity"], decided)
    same = pc.equal(want["quantity"], base["quantity"]).fill_null(False)
    turned = pc.not_equal(shown["active"], then["active"]).fill_null(False)
    learned = pc.and_(pc.and_(here, listed_before), pc.and_(pc.and_(same, turned), sure.is_null()))
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
