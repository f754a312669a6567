"""The one state in which each SKU counts. The only definition of these numbers (I1) for every page and report.

The first of these that is true of a SKU is its state, and the column in which it counts:

| state | true of a SKU |
|---|---|
| in_flight | a job that is open has sent it |
| held | a guard holds it, and no person has approved it |
| rejected_for_good, rejected_for_now | the platform rejects it, and it is not planned to be sent again |
| absent | the platform has it on sale, and the extract does not have it and is not proven complete: it stays on sale |
| unconfirmed | it differs from the baseline, and the last job that sent it ended without a result for it |
| suppressed | it differs in a quantity that changes nothing for a customer and waits for the full sync |
| pending | it differs from the baseline or is not in it, or it is planned to be sent |
| acknowledged | none of these: the baseline has every value of the ERP, from success lines and observations |

Rows in quarantine are a column of their own. A SKU without a row in the ERP counts too (`not_in_erp`): one that left the ERP and is not
acknowledged as off sale, one that is absent, one that is in a job or a plan, one that the platform rejects, and one that a restoration brought back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.delta import compute_delta
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from shelfsync.catalog.delta import Key


@dataclass(frozen=True)
class Carried:
    """SKUs of one vendor by state: each an array, in any order, with repeats."""

    in_flight: pa.Array
    planned: pa.Array
    held: pa.Array
    rejected_for_good: pa.Array
    rejected_for_now: pa.Array
    suppressed: pa.Array


class Counts(NamedTuple):
    """How many rows and SKUs of a vendor are in each column: sum(COLUMNS) = erp_rows + not_in_erp."""

    erp_rows: int = 0
    not_in_erp: int = 0
    acknowledged: int = 0
    suppressed: int = 0
    pending: int = 0
    in_flight: int = 0
    unconfirmed: int = 0
    held: int = 0
    rejected_for_good: int = 0
    rejected_for_now: int = 0
    absent: int = 0
    quarantined: int = 0


NAMES = Counts._fields
COLUMNS = NAMES[2:]
"""They exclude each other; together they are `erp_rows` and `not_in_erp`."""


def differing(
    snapshot: pa.Table, baseline: pa.Table, quarantined: pa.Table | None, *, complete: bool, key: Key
) -> pa.Table:
    """What is not acknowledged as it is wanted: sku and change (new, changed, removed, absent), sorted by sku.

    `complete`: what is absent from the snapshot has left the ERP; without it, `absent` stands for `removed`. `quarantined`: rows in
    QUARANTINE schema; their SKUs have not left it.
    """
    delta = compute_delta(snapshot, baseline, full=False, quarantined=quarantined, key=key).select(["sku", "change"])
    if complete:
        return delta
    change = column(delta, "change")
    return delta.set_column(1, "change", pc.if_else(pc.equal(change, "removed"), "absent", change))


def states(
    skus: pa.Array,
    baseline: pa.Array,
    differs: pa.Table,
    unconfirmed: pa.Array,
    carried: Carried,
    *,
    quarantined: pa.Array,
) -> pa.Table:
    """Each SKU of a vendor that counts in a column, with its name: sku and state. Its snapshot has these `skus`, and its baseline has those.

    `differs`: what `differing` found. `unconfirmed`: SKUs whose last job ended without a result for them. `quarantined`: the SKUs of rows
    in quarantine, which count by their rows and not here.
    """
    different = column(differs, "sku")
    rejected = (carried.rejected_for_good, carried.rejected_for_now)
    beside = pc.unique(pa.concat_arrays([carried.in_flight, carried.planned, *rejected]))
    not_counted = pc.invert(pc.is_in(beside, value_set=pa.concat_arrays([skus, different, quarantined])))
    change = column(differs, "change")
    absent = different.filter(pc.equal(change, "absent"))
    gone = different.filter(pc.is_in(change, value_set=pa.array(["removed", "absent"])))
    every = pa.concat_arrays([skus, gone, beside.filter(not_counted)])
    planned = pc.is_in(every, value_set=carried.planned)
    differ = pc.is_in(every, value_set=different)
    rests = pc.invert(planned)
    is_true = {  # the first that is true
        "in_flight": pc.is_in(every, value_set=carried.in_flight),
        "held": pc.is_in(every, value_set=carried.held),
        "rejected_for_good": pc.and_(rests, pc.is_in(every, value_set=carried.rejected_for_good)),
        "rejected_for_now": pc.and_(rests, pc.is_in(every, value_set=carried.rejected_for_now)),
        "absent": pc.and_(rests, pc.is_in(every, value_set=absent)),
        "unconfirmed": pc.and_(differ, pc.is_in(every, value_set=unconfirmed)),
        "suppressed": pc.and_(pc.and_(differ, rests), pc.is_in(every, value_set=carried.suppressed)),
        "pending": pc.or_(pc.or_(differ, planned), pc.invert(pc.is_in(every, value_set=baseline))),
    }
    masks = pc.make_struct(*is_true.values(), field_names=list(is_true))
    return pa.table({"sku": every, "state": pc.case_when(masks, *map(pa.scalar, is_true), pa.scalar("acknowledged"))})


def count(stated: pa.Table, *, erp_rows: int, quarantined_rows: int) -> Counts:
    """The numbers of a vendor whose SKUs are in these `states`. `quarantined_rows`: of the `erp_rows` those in quarantine."""
    numbers = {one["values"]: one["counts"] for one in pc.value_counts(stated["state"]).to_pylist()}
    return Counts(
        erp_rows=erp_rows,
        not_in_erp=stated.num_rows + quarantined_rows - erp_rows,
        quarantined=quarantined_rows,
        **numbers,
    )


def total(every: list[Counts]) -> Counts:
    """The sums over vendors."""
    return Counts(**{name: sum(getattr(one, name) for one in every) for name in NAMES})


def sentence(counts: Counts) -> str:
    """For a person, with what is not zero."""
    words = {
        name.replace("_", " "): getattr(counts, name)
        for name in ("suppressed", "pending", "in_flight", "unconfirmed", "held", "absent")
    }
    words |= {"rejected": counts.rejected_for_good + counts.rejected_for_now, "quarantined": counts.quarantined}
    rest = "".join(f", {number:,} {word}" for word, number in words.items() if number)
    beside = f" and {counts.not_in_erp:,} SKUs without a row in it" if counts.not_in_erp else ""
    return f"of the ERP's {counts.erp_rows:,} rows{beside} {counts.acknowledged:,} are acknowledged{rest}"
