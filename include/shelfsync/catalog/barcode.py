"""Barcodes: which texts the platform accepts, and when two are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.number import mask

if TYPE_CHECKING:
    from shelfsync.catalog.number import Mask

DIGITS_MAX = 14
"""One longer barcode fails a whole request, and so does one with a non-digit (field notes, catalog update)."""

_AS_FLOAT = r"^[+-]?(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?[eE][+-]?\d+|\.\d+[eE][+-]?\d+)$"


def faults(barcodes: pa.Array) -> list[tuple[str, Mask]]:
    """The first fault of each barcode; null has no fault."""
    strange = mask(pc.invert(pc.ascii_is_decimal(barcodes)))
    as_float = mask(pc.match_substring_regex(barcodes, _AS_FLOAT)) if strange.any() else strange
    return [
        ("barcode_as_float", as_float),
        ("barcode_not_digits", strange),
        ("barcode_too_long", mask(pc.greater(pc.binary_length(barcodes), DIGITS_MAX))),
    ]


def alike(one: str, other: str) -> bool:
    """Whether two texts are the same barcode, however the platform pads it."""
    return one.isdigit() and other.isdigit() and one.zfill(DIGITS_MAX) == other.zfill(DIGITS_MAX)


def padded(barcodes: pa.Array) -> pa.Array:
    """Barcodes as the platform returns them: padded on the left with zeros to 14 digits. A text with a non-digit becomes null."""
    text = pc.ascii_lpad(barcodes, width=DIGITS_MAX, padding="0")
    return pc.if_else(pc.match_substring_regex(text, rf"^\d{{{DIGITS_MAX}}}$"), text, pa.scalar(None, pa.string()))
