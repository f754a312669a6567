"""The changes that one rule holds, as one hold: by what they are recognised in the next extract, and the delta without them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import DELTA, FIELDS

_ROWS_A_PIECE = 1 << 16


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


def without_held(delta: pa.Table, held: pa.Table) -> pa.Table:
    """The delta (DELTA schema) without the values that `held` (DELTA schema) has; all its rows stay."""
    of_hold = aligned(held, column(delta, "sku"), FIELDS)
    columns = {name: column(delta, name) for name in DELTA.names}
    for name in FIELDS:
        values = columns[name]
        columns[name] = pc.if_else(of_hold[name].is_valid(), pa.scalar(None, values.type), values)
    return pa.Table.from_arrays([columns[name] for name in DELTA.names], schema=DELTA)
