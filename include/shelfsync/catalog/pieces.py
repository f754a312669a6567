"""Whole pieces: 3.4 pieces become 3, and stock below zero becomes zero, or the value is quarantined; the settings say which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.mask import mask
from shelfsync.rows.number import INT32_MAX

if TYPE_CHECKING:
    from shelfsync.rows.mask import Mask
    from shelfsync.rows.number import Numbers
    from shelfsync.rows.quarantine_reason import Findings
    from shelfsync.settings import NormaliseSettings


def stock(numbers: Numbers, findings: Findings, settings: NormaliseSettings) -> tuple[pa.Array, Mask]:
    """The pieces of the column `quantity`, and which of them lost a fraction."""
    pieces = numbers.pieces()
    if settings.negative_quantity == "zero":
        below = numbers.negative
        pieces = pc.if_else(pa.array(below), pa.scalar(0, pa.int64()), pieces)
    else:
        below = np.zeros_like(numbers.negative)
        findings.note("quantity_negative", numbers.negative)
    if settings.quantity_rounding == "quarantine":
        findings.note("quantity_not_whole", numbers.fraction & ~below)
    findings.note("quantity_too_large", _too_large(numbers, pieces) & ~below)
    return pieces, numbers.fraction & ~below


def whole(field: str, numbers: Numbers, findings: Findings) -> pa.Array:
    """The pieces of another column, in which neither a fraction nor a number below zero has a meaning."""
    pieces = numbers.pieces()
    findings.note(f"{field}_negative", numbers.negative)
    findings.note(f"{field}_not_whole", numbers.fraction)
    findings.note(f"{field}_too_large", _too_large(numbers, pieces))
    return pieces


def _too_large(numbers: Numbers, pieces: pa.Array) -> Mask:
    return numbers.large | mask(pc.greater(pieces, INT32_MAX))
