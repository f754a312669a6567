"""guard: what looks like an accident is held for a person as a slice; all else flows (I9).

The rules stand in `guards/`, one function each. A price is held without the rest of its row, so that what is sold out is
said to be sold out whatever its price looks like.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import companion
from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.decision import today
from shelfsync.catalog.guards import GUARDS
from shelfsync.catalog.unrestored import passing
from shelfsync.columns import DELTA, FIELDS, HELD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.catalog.guards.case import Case, Finding


@dataclass(frozen=True)
class Slice:
    """What one rule holds, as one thing to decide about. `rows` in DELTA shape, with nothing in it but what is held."""

    rule: str
    category: str | None
    message: str
    thresholds: dict[str, Any]
    rows: pa.Table
    carried: int | None = None
    """The hold that a person rejected, or let expire, and whose very values the ERP still says."""


@dataclass(frozen=True)
class Guarded:
    """`released` in DELTA shape, unique and sorted by sku; `held` in HELD shape, sorted by sku, where a SKU stands once a slice.

    Each field of each row of the delta is in exactly one of them, but for a companion that `released` repeats.
    """

    released: pa.Table
    held: pa.Table
    slices: tuple[Slice, ...] = field(default=())


def guard(
    case: Case, *, approved: Iterable[pa.Table] = (), rejected: Iterable[Slice] = (), only: str | None = None
) -> Guarded:
    """Splits a delta into what may be sent and what a person has to look at first.

    `approved`: rows (DELTA shape) that a person let through lately; the very same values pass. `rejected`: slices
    that a person did not let through (with `carried`); of them the very same values stay held, and a new product whole as long as
    its price is the same. `only`: ask this rule alone. What only goes back to where it was before a restoration, no rule is asked about.
    """
    said = {name: column(case.delta, name).is_valid() for name in FIELDS}
    free = dict(said)
    for passes in (passing(case.delta, case.unrestored), *(_pass(case, table) for table in approved)):
        free |= {name: pc.and_(free[name], pc.invert(values)) for name, values in passes.items()}
    rejected = tuple(rejected)
    judging = replace(case, free=free, unwanted=_unwanted(case, rejected))  # the guards see what those before them took
    slices: list[Slice] = []
    taken = {name: pc.and_(values, False) for name, values in said.items()}

    def take(mine: dict[str, pa.Array], like: Slice | Finding) -> None:
        if any(pc.any(values).as_py() for values in mine.values()):
            slices.append(_slice(case, like, mine))
            for name, values in mine.items():
                free[name] = pc.and_(free[name], pc.invert(values))
                taken[name] = pc.or_(taken[name], values)

    for one in rejected:
        same = _stays(case, one.rows)
        take({name: pc.and_(same[name], free[name]) for name in FIELDS}, one)
    for rule, ask in GUARDS.items():
        if only in {None, rule}:
            for finding in ask(judging):
                take(_mine(judging, finding), finding)
    return Guarded(_released(case, taken), _held(slices), tuple(slices))


def _mine(case: Case, finding: Finding) -> dict[str, pa.Array]:
    """What of the finding is still free, by field; a new product and one that left go whole or not at all."""
    whole = pc.or_(case.removed, pc.equal(column(case.delta, "change"), "new"))
    rows = {name: finding.rows if name in finding.fields else pc.and_(finding.rows, whole) for name in FIELDS}
    return {name: pc.and_(rows[name], case.free[name]) for name in FIELDS}


def _slice(case: Case, like: Slice | Finding, mine: dict[str, pa.Array]) -> Slice:
    rule, carried = (like.rule, like.carried) if isinstance(like, Slice) else (like.reason, None)
    return Slice(rule, like.category, like.message, like.thresholds, _only(case.delta, mine), carried)


def _released(case: Case, taken: dict[str, pa.Array]) -> pa.Table:
    if not any(pc.any(values).as_py() for values in taken.values()):
        return companion.alone(case.delta, case.baseline)
    kept = {name: pc.invert(values) for name, values in taken.items()}
    return companion.alone(_only(case.delta, kept), case.baseline)


def _only(delta: pa.Table, fields: dict[str, pa.Array]) -> pa.Table:
    """The delta with nothing in it but these fields; rows of which nothing is left are gone."""
    columns = {name: column(delta, name) for name in DELTA.names}
    for name, mask in fields.items():
        columns[name] = pc.if_else(mask, columns[name], pa.scalar(None, columns[name].type))
    table = pa.Table.from_arrays([columns[name] for name in DELTA.names], schema=DELTA)
    said = columns[FIELDS[0]].is_valid()
    for name in FIELDS[1:]:
        said = pc.or_(said, columns[name].is_valid())
    return table.filter(said)


def _held(slices: list[Slice]) -> pa.Table:
    if not slices:
        return HELD.empty_table()
    tables = [
        one.rows.append_column("reason", pa.repeat(pa.scalar(one.rule), one.rows.num_rows))
        .append_column("message", pa.repeat(pa.scalar(one.message), one.rows.num_rows))
        .cast(HELD)
        for one in slices
    ]
    return pa.concat_tables(tables).sort_by("sku")


def _pass(case: Case, approved: pa.Table) -> dict[str, pa.Array]:
    """Fields of the delta whose value is the very one that was approved for the SKU.

    A new product passes whole or not at all: whatever its quantity is by now, with all else as it was approved. At another price
    it is a question that nobody has answered.
    """
    said = aligned(today(approved, case.delta), case.skus, (*FIELDS, "change"))
    new = _new_in(case, said)
    whole = new
    for name in FIELDS:
        whole = pc.and_(whole, _alike(column(case.delta, name), said[name]))
    return {name: pc.if_else(new, whole, _same(column(case.delta, name), said[name])) for name in FIELDS}


def _stays(case: Case, rejected: pa.Table) -> dict[str, pa.Array]:
    """Fields of the delta whose value is the very one that was not let through for the SKU.

    A new product goes or stays whole, by its price: what sells at the counter meanwhile makes it no other product, and the rest of
    its row would put it on sale at a price that the platform has from elsewhere.
    """
    said = aligned(rejected, case.skus, (*FIELDS, "change"))
    new, priced = _new_in(case, said), _alike(column(case.delta, "price"), said["price"])
    return {name: pc.if_else(new, priced, _same(column(case.delta, name), said[name])) for name in FIELDS}


def _unwanted(case: Case, rejected: Iterable[Slice]) -> pa.Array:
    """New products that a person did not let in as new, whatever is said of them by now."""
    rows = pa.repeat(pa.scalar(False), case.delta.num_rows)
    for one in rejected:
        if one.rule == "new_skus":
            rows = pc.or_(rows, _new_in(case, aligned(one.rows, case.skus, ("change",))))
    return rows


def _new_in(case: Case, said: dict[str, pa.Array]) -> pa.Array:
    """Rows that are of a new product, and were when somebody decided about them."""
    new = pc.equal(column(case.delta, "change"), "new")
    return pc.and_(new, pc.equal(said["change"], "new").fill_null(False))


def _same(now: pa.Array, said: pa.Array) -> pa.Array:
    return pc.equal(now, said).fill_null(False)


def _alike(now: pa.Array, said: pa.Array) -> pa.Array:
    """The same value, or in both nothing."""
    return pc.or_(_same(now, said), pc.and_(now.is_null(), said.is_null()))
