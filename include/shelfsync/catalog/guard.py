"""guard: changes that look like an accident are held for a person; all others are released (I9). And how the person's decision applies to
a later delta.

Each rule is a function in `guard_rules`. A price is held without the rest of its row: a sold-out product must go off sale, even if its
price is held.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, any_of, column, equal, same, with_column
from shelfsync.catalog.guard_rules import GUARDS
from shelfsync.catalog.item import with_active_if_single
from shelfsync.catalog.restore import reverts
from shelfsync.schemas import DELTA, FIELDS, HELD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.catalog.guard_case import Case, Finding


@dataclass(frozen=True)
class HeldChanges:
    """The changes that one rule holds, as one hold. `rows` (DELTA schema) has no values but the held ones."""

    rule: str
    category: str | None
    message: str
    thresholds: dict[str, Any]
    rows: pa.Table
    carried: int | None = None
    """The number of an earlier hold with the same values, which a person declined or which expired; None for new changes."""


@dataclass(frozen=True)
class Guarded:
    """`released`: DELTA schema, unique and sorted by sku. `held`: HELD schema, sorted by sku, with one row a SKU for each hold.

    Each field of each row of the delta is in exactly one of the two, except a co-sent field, which `released` may repeat.
    """

    released: pa.Table
    held: pa.Table
    held_changes: tuple[HeldChanges, ...] = field(default=())


def guard(
    case: Case, *, approved: Iterable[pa.Table] = (), declined: Iterable[HeldChanges] = (), only: str | None = None
) -> Guarded:
    """Splits a delta into the changes that may be sent and those that a person has to approve first.

    `approved`: rows (DELTA schema) that a person approved lately; the same values pass. `declined`: held changes that a person declined
    (with `carried`); the same values stay held, and a new product stays held whole as long as its price is the same. `only`: run this
    rule alone. A value that only reverts to its state before a restoration passes every rule.
    """
    has_value = {name: column(case.delta, name).is_valid() for name in FIELDS}
    free = dict(has_value)
    for passes in (reverts(case.delta, case.unrestored), *(_pass(case, table) for table in approved)):
        free |= {name: pc.and_(free[name], pc.invert(values)) for name, values in passes.items()}
    declined = tuple(declined)
    judging = replace(
        case, free=free, unwanted=_unwanted(case, declined)
    )  # each guard sees what the guards before it held
    held_changes: list[HeldChanges] = []
    held = {name: pc.and_(values, False) for name, values in has_value.items()}

    def hold(masks: dict[str, pa.Array], like: HeldChanges | Finding) -> None:
        if any(pc.any(values).as_py() for values in masks.values()):
            held_changes.append(_held_changes(case, like, masks))
            for name, values in masks.items():
                free[name] = pc.and_(free[name], pc.invert(values))
                held[name] = pc.or_(held[name], values)

    for one in declined:
        same = _stays(case, one.rows)
        hold({name: pc.and_(same[name], free[name]) for name in FIELDS}, one)
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


def _pass(case: Case, approved: pa.Table) -> dict[str, pa.Array]:
    """Field -> mask of the delta's values that are the approved ones of their SKU.

    A new product passes whole or not at all: with any quantity, if all its other values are the approved ones. At another price it needs
    a new approval.
    """
    decided = aligned(with_current_quantities(approved, case.delta), case.skus, (*FIELDS, "change"))
    new = _new_in(case, decided)
    whole = new
    for name in FIELDS:
        whole = pc.and_(whole, same(column(case.delta, name), decided[name]))
    return {name: pc.if_else(new, whole, equal(column(case.delta, name), decided[name])) for name in FIELDS}


def _stays(case: Case, declined: pa.Table) -> dict[str, pa.Array]:
    """Field -> mask of the delta's values that are the declined ones of their SKU.

    A new product stays held whole as long as its price is the declined one. A sale at the counter changes its quantity and makes it no
    other product. Without its price, the rest of its row would put it on sale at a price that the platform has from elsewhere.
    """
    decided = aligned(declined, case.skus, (*FIELDS, "change"))
    new, priced = _new_in(case, decided), same(column(case.delta, "price"), decided["price"])
    return {name: pc.if_else(new, priced, equal(column(case.delta, name), decided[name])) for name in FIELDS}


def _unwanted(case: Case, declined: Iterable[HeldChanges]) -> pa.Array:
    """A mask of the new products that a person declined as new, whatever their values are now."""
    rows = pa.repeat(pa.scalar(False), case.delta.num_rows)
    for one in declined:
        if one.rule == "new_skus":
            rows = pc.or_(rows, _new_in(case, aligned(one.rows, case.skus, ("change",))))
    return rows


def _new_in(case: Case, decided: dict[str, pa.Array]) -> pa.Array:
    """A mask of the rows of products that are new now and were new when a person decided about them."""
    new = pc.equal(column(case.delta, "change"), "new")
    return pc.and_(new, pc.equal(decided["change"], "new").fill_null(False))


_ROWS_A_PIECE = 1 << 16


def identity(held: pa.Table) -> str:
    """The SHA-256, in hexadecimal, by which held changes (DELTA schema) are recognised in the next extract.

    It covers the rows without the values that change by themselves: the sales buffers, and the quantity of a new product, which sells at
    the counter while it waits.
    """
    columns = {name: column(held, name) for name in ("sku", "barcode", *FIELDS, "change")}
    columns["quantity"] = pc.if_else(
        pc.equal(columns["change"], "new"), pa.scalar(None, columns["quantity"].type), columns["quantity"]
    )
    digest = hashlib.sha256()
    for piece in pa.table(columns).to_batches(max_chunksize=_ROWS_A_PIECE):
        lines = pc.binary_join_element_wise(
            *(pc.cast(values, pa.large_string()) for values in piece.columns),
            pa.scalar("\x1f", pa.large_string()),
            null_handling="replace",
            null_replacement="\x00",
        )
        digest.update("\x1e".join([*lines.to_pylist(), ""]).encode())
    return digest.hexdigest()


def known_before(held: pa.Table, reference: pa.Table) -> pa.Table:
    """The last known state of the SKUs of held changes: their rows of `reference` (BASELINE schema)."""
    return reference.filter(pc.is_in(column(reference, "sku"), value_set=column(held, "sku")))


def with_current_quantities(approved: pa.Table, delta: pa.Table) -> pa.Table:
    """The approved rows (DELTA schema); new products have the delta's quantity, if the delta has all other values as approved."""
    skus = column(approved, "sku")
    now = aligned(delta, skus, (*FIELDS, "change"))
    alike = pc.and_(pc.equal(column(approved, "change"), "new"), pc.equal(now["change"], "new").fill_null(False))
    for name in FIELDS:
        if name != "quantity":
            alike = pc.and_(alike, same(column(approved, name), now[name]))
    return with_column(approved, "quantity", pc.if_else(alike, now["quantity"], column(approved, "quantity")))


def without_held(delta: pa.Table, held: pa.Table) -> pa.Table:
    """The delta (DELTA schema) without the values that `held` (DELTA schema) has; all its rows stay."""
    of_hold = aligned(held, column(delta, "sku"), FIELDS)
    columns = {name: column(delta, name) for name in DELTA.names}
    for name in FIELDS:
        values = columns[name]
        columns[name] = pc.if_else(of_hold[name].is_valid(), pa.scalar(None, values.type), values)
    return pa.Table.from_arrays([columns[name] for name in DELTA.names], schema=DELTA)


def pending(delta: pa.Table, baseline: pa.Table, approved: pa.Table) -> bool:
    """Whether the delta still has an approved value that the baseline does not have.

    False: the value is acknowledged, or the ERP has another one now. A value that a full sync only repeats does not count.
    """
    skus = column(delta, "sku")
    wanted, before = (aligned(table, skus, FIELDS) for table in (approved, baseline))
    for name in FIELDS:
        values = column(delta, name)
        news = pc.invert(pc.equal(values, before[name]).fill_null(False))
        if pc.any(pc.and_(pc.equal(values, wanted[name]).fill_null(False), news)).as_py():
            return True
    return False
