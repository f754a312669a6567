"""What a person's word about a held slice has to do with a delta."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.columns import DELTA, FIELDS

_ROWS_A_PIECE = 1 << 16


def identity(held: pa.Table) -> str:
    """What makes a slice (DELTA shape) the same question in the next extract, as a hash: its rows without what moves by itself.

    A new product waits whole, and sells at the counter meanwhile: its quantity is none of the question. Nor is a sales buffer.
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
    """What a slice is compared with: the rows of its SKUs that were known (`reference` in BASELINE shape)."""
    return reference.filter(pc.is_in(column(reference, "sku"), value_set=column(held, "sku")))


def today(approved: pa.Table, delta: pa.Table) -> pa.Table:
    """What was approved, with the quantities of today for new products that the delta still has as they were approved otherwise."""
    skus = column(approved, "sku")
    now = aligned(delta, skus, (*FIELDS, "change"))
    same = pc.and_(pc.equal(column(approved, "change"), "new"), pc.equal(now["change"], "new").fill_null(False))
    for name in FIELDS:
        if name != "quantity":
            said = column(approved, name)
            both_silent = pc.and_(said.is_null(), now[name].is_null())
            same = pc.and_(same, pc.or_(both_silent, pc.equal(said, now[name]).fill_null(False)))
    place = approved.schema.get_field_index("quantity")
    quantity = pc.if_else(same, now["quantity"], column(approved, "quantity"))
    return approved.set_column(place, approved.schema.field(place), quantity)


def beside(delta: pa.Table, held: pa.Table) -> pa.Table:
    """The delta (DELTA shape) without the fields of the SKUs that `held` names: all that is no question of that slice."""
    mine = aligned(held, column(delta, "sku"), FIELDS)
    columns = {name: column(delta, name) for name in DELTA.names}
    for name in FIELDS:
        values = columns[name]
        columns[name] = pc.if_else(mine[name].is_valid(), pa.scalar(None, values.type), values)
    return pa.Table.from_arrays([columns[name] for name in DELTA.names], schema=DELTA)


def pending(delta: pa.Table, baseline: pa.Table, approved: pa.Table) -> bool:
    """Whether the delta still asks for a value that was approved and that the baseline does not have.

    False: it has been acknowledged, or the ERP has said something else. What a full sync repeats asks for nothing.
    """
    skus = column(delta, "sku")
    let, before = (aligned(table, skus, FIELDS) for table in (approved, baseline))
    for name in FIELDS:
        values = column(delta, name)
        news = pc.invert(pc.equal(values, before[name]).fill_null(False))
        if pc.any(pc.and_(pc.equal(values, let[name]).fill_null(False), news)).as_py():
            return True
    return False
