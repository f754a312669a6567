"""decision: how a person's approval of a hold applies to a later delta, and how a declined hold does.

Exactly the approved values pass the guards, until they are acknowledged. Only the quantity of a new product may be another one: the
product sells at the counter while it waits.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column, equal, same, with_column
from shelfsync.schemas import DELTA, FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.catalog.guard_case import Case

_ROWS_A_PIECE = 1 << 16


def passes(case: Case, approved: pa.Table) -> dict[str, pa.Array]:
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


def stays(case: Case, declined: pa.Table) -> dict[str, pa.Array]:
    """Field -> mask of the delta's values that are the declined ones of their SKU.

    A new product stays held whole as long as its price is the declined one. A sale at the counter changes its quantity and makes it no
    other product. Without its price, the rest of its row would put it on sale at a price that the platform has from elsewhere.
    """
    decided = aligned(declined, case.skus, (*FIELDS, "change"))
    new, priced = _new_in(case, decided), same(column(case.delta, "price"), decided["price"])
    return {name: pc.if_else(new, priced, equal(column(case.delta, name), decided[name])) for name in FIELDS}


def unwanted(case: Case, declined: Iterable[pa.Table]) -> pa.Array:
    """A mask of the new products that a person declined as new, whatever their values are now. `declined`: rows (DELTA schema) of those holds."""
    rows = pa.repeat(pa.scalar(False), case.delta.num_rows)
    for one in declined:
        rows = pc.or_(rows, _new_in(case, aligned(one, case.skus, ("change",))))
    return rows


def unseen(declined: pa.Table, shown: pa.Array, quarantined: pa.Array, *, complete: bool) -> pa.Table:
    """The declined rows about which an extract proves nothing: the ERP may have these values still.

    `shown`: the SKUs of its snapshot. A SKU that is not among them is quarantined, or the extract is not complete.
    """
    skus = column(declined, "sku")
    may_be_there = pc.is_in(skus, value_set=quarantined.drop_null()) if complete else True
    return declined.filter(pc.and_(pc.invert(pc.is_in(skus, value_set=shown)), may_be_there))


def _new_in(case: Case, decided: dict[str, pa.Array]) -> pa.Array:
    """A mask of the rows of products that are new now and were new when a person decided about them."""
    new = pc.equal(column(case.delta, "change"), "new")
    return pc.and_(new, pc.equal(decided["change"], "new").fill_null(False))


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
