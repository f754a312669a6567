"""guard: changes that look like an accident are held for a person; all others are released (I9).

A price is held without the rest of its row: a sold-out product must go off sale, even if its price is held.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.catalog.guards.approved_values import passes
from shelfsync.catalog.guards.below_cost import below_cost
from shelfsync.catalog.guards.changed_columns import changed_columns
from shelfsync.catalog.guards.declined_values import stays, unwanted
from shelfsync.catalog.guards.duplicate_feed import duplicate_feed
from shelfsync.catalog.guards.empty_feed import empty_feed
from shelfsync.catalog.guards.held_changes import HeldChanges
from shelfsync.catalog.guards.mass_deactivation import mass_deactivation
from shelfsync.catalog.guards.mass_removal import mass_removal
from shelfsync.catalog.guards.mass_repricing import mass_repricing
from shelfsync.catalog.guards.new_skus import new_skus
from shelfsync.catalog.guards.price_change import price_change
from shelfsync.catalog.guards.shifted_decimal import shifted_decimal
from shelfsync.catalog.guards.shrunken_extract import shrunken_extract
from shelfsync.catalog.guards.vanished_category import vanished_category
from shelfsync.catalog.guards.zero_price import zero_price
from shelfsync.catalog.guards.zero_stock import zero_stock
from shelfsync.rows.alignment import any_of, column
from shelfsync.schemas import DELTA, FIELDS, HELD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.catalog.guards.case import Case, Finding, Findings

GUARDS: dict[str, Callable[[Case], Findings]] = {
    "changed_columns": changed_columns,
    "duplicate_feed": duplicate_feed,
    "empty_feed": empty_feed,
    "shrunken_extract": shrunken_extract,
    "mass_removal": mass_removal,
    "vanished_category": vanished_category,
    "mass_deactivation": mass_deactivation,
    "zero_stock": zero_stock,
    "zero_price": zero_price,
    "shifted_decimal": shifted_decimal,
    "price_change": price_change,
    "mass_repricing": mass_repricing,
    "below_cost": below_cost,
    "new_skus": new_skus,
}
"""In the order in which they run: a person reads the most informative reason, a repeated file before the removals that it causes."""


@dataclass(frozen=True)
class Guarded:
    """`released`: DELTA schema, unique and sorted by sku. `held`: HELD schema, sorted by sku, with one row a SKU for each hold.

    Each field of each row of the delta is in exactly one of the two, except a co-sent field, which `released` may repeat.
    """

    released: pa.Table
    held: pa.Table
    held_changes: tuple[HeldChanges, ...] = field(default=())


def apply_guards(
    case: Case, *, approved: Iterable[pa.Table] = (), declined: Iterable[HeldChanges] = (), only: str | None = None
) -> Guarded:
    """Splits a delta into the changes that may be sent and those that a person has to approve first.

    `approved`: rows (DELTA schema) that a person approved lately; the same values pass. `declined`: held changes that a person declined
    (with `carried`); the same values stay held, and a new product stays held whole as long as its price is the same. `only`: run this
    rule alone.
    """
    has_value = {name: column(case.delta, name).is_valid() for name in FIELDS}
    free = dict(has_value)
    for passing in (case.passing, *(passes(case, table) for table in approved)):
        free |= {name: pc.and_(free[name], pc.invert(values)) for name, values in passing.items()}
    declined = tuple(declined)
    as_new = [one.rows for one in declined if one.rule == "new_skus"]
    judging = replace(case, free=free, unwanted=unwanted(case, as_new))  # each guard sees what those before it held
    held_changes: list[HeldChanges] = []
    held = {name: pc.and_(values, False) for name, values in has_value.items()}

    def hold(masks: dict[str, pa.Array], like: HeldChanges | Finding) -> None:
        if any(pc.any(values).as_py() for values in masks.values()):
            held_changes.append(_held_changes(case, like, masks))
            for name, values in masks.items():
                free[name] = pc.and_(free[name], pc.invert(values))
                held[name] = pc.or_(held[name], values)

    for one in declined:
        staying = stays(case, one.rows)
        hold({name: pc.and_(staying[name], free[name]) for name in FIELDS}, one)
    for rule, check in GUARDS.items():
        if only in {None, rule}:
            for finding in check(judging):
                hold(_free_of(judging, finding), finding)
    return Guarded(_released(case, held), _held(held_changes), tuple(held_changes))


def _free_of(case: Case, finding: Finding) -> dict[str, pa.Array]:
    """Field -> mask of the finding's values that no guard holds yet; a new product and one that left are held whole or not at all."""
    whole = pc.or_(case.removed, pc.equal(column(case.delta, "change"), "new"))
    rows = {name: finding.rows if name in finding.fields else pc.and_(finding.rows, whole) for name in FIELDS}
    return {name: pc.and_(rows[name], case.free[name]) for name in FIELDS}


def _held_changes(case: Case, like: HeldChanges | Finding, masks: dict[str, pa.Array]) -> HeldChanges:
    rule, carried = (like.rule, like.carried) if isinstance(like, HeldChanges) else (like.reason, None)
    return HeldChanges(rule, like.category, like.message, like.thresholds, _only(case.delta, masks), carried)


def _released(case: Case, held: dict[str, pa.Array]) -> pa.Table:
    if not any(pc.any(values).as_py() for values in held.values()):
        return with_active_if_single(case.delta, case.baseline)
    released = {name: pc.invert(values) for name, values in held.items()}
    return with_active_if_single(_only(case.delta, released), case.baseline)


def _only(delta: pa.Table, fields: dict[str, pa.Array]) -> pa.Table:
    """The delta with these values alone (field -> mask), without rows that have no value left."""
    columns = {name: column(delta, name) for name in DELTA.names}
    for name, mask in fields.items():
        columns[name] = pc.if_else(mask, columns[name], pa.scalar(None, columns[name].type))
    table = pa.Table.from_arrays([columns[name] for name in DELTA.names], schema=DELTA)
    return table.filter(any_of(columns[name].is_valid() for name in FIELDS))


def _held(held_changes: list[HeldChanges]) -> pa.Table:
    if not held_changes:
        return HELD.empty_table()
    tables = [
        one.rows.append_column("reason", pa.repeat(pa.scalar(one.rule), one.rows.num_rows))
        .append_column("message", pa.repeat(pa.scalar(one.message), one.rows.num_rows))
        .cast(HELD)
        for one in held_changes
    ]
    return pa.concat_tables(tables).sort_by("sku")
