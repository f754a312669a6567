"""How a person's decision about a hold applies to a later delta."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.schemas import DELTA, FIELDS

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
    same = pc.and_(pc.equal(column(approved, "change"), "new"), pc.equal(now["change"], "new").fill_null(False))
    for name in FIELDS:
        if name != "quantity":
            then = column(approved, name)
            both_null = pc.and_(then.is_null(), now[name].is_null())
            same = pc.and_(same, pc.or_(both_null, pc.equal(then, now[name]).fill_null(False)))
    place = approved.schema.get_field_index("quantity")
    quantity = pc.if_else(same, now["quantity"], column(approved, "quantity"))
    return approved.set_column(place, approved.schema.field(place), quantity)


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
