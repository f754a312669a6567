"""Identifiers: which texts can be a vendor's id or a barcode, and when two barcodes are the same.

A vendor's id has to fit the platform's addresses, the ledger's indexes and the lake's folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.number import mask

if TYPE_CHECKING:
    from shelfsync.catalog.number import Mask


VENDOR_LENGTH_MAX = 255
_STRANGE = r"[\p{Cc}\x{FFFD}]"


def vendor_faults(vendors: pa.Array) -> list[tuple[str, Mask]]:
    """What makes a vendor id useless, in the order in which it is looked at; each is a reason of `reason.REASONS`."""
    trimmed = pc.utf8_trim_whitespace(vendors)
    return [
        ("vendor_missing", ~mask(pc.not_equal(trimmed, ""))),
        ("vendor_characters", mask(pc.match_substring_regex(vendors, _STRANGE))),
        ("vendor_too_long", mask(pc.greater(pc.utf8_length(trimmed), VENDOR_LENGTH_MAX))),
        ("vendor_is_folder", mask(pc.is_in(trimmed, value_set=pa.array([".", ".."])))),
    ]


def unusable(vendors: pa.Array) -> Mask:
    """Rows without a usable vendor."""
    return sum((where for _, where in vendor_faults(vendors)), start=mask(pa.array([False] * len(vendors))))


def is_usable(vendor: str) -> bool:
    """Whether this one text can be a vendor's id."""
    try:
        return not unusable(pa.array([vendor], pa.string())).any()
    except UnicodeEncodeError:
        return False


BARCODE_DIGITS_MAX = 14
"""One longer barcode fails a whole request, and so does one with a non-digit (field notes, catalog update)."""

_AS_FLOAT = r"^[+-]?(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?[eE][+-]?\d+|\.\d+[eE][+-]?\d+)$"


def barcode_faults(barcodes: pa.Array) -> list[tuple[str, Mask]]:
    """The first fault of each barcode; null has no fault."""
    strange = mask(pc.invert(pc.ascii_is_decimal(barcodes)))
    as_float = mask(pc.match_substring_regex(barcodes, _AS_FLOAT)) if strange.any() else strange
    return [
        ("barcode_as_float", as_float),
        ("barcode_not_digits", strange),
        ("barcode_too_long", mask(pc.greater(pc.binary_length(barcodes), BARCODE_DIGITS_MAX))),
    ]


def alike(one: str, other: str) -> bool:
    """Whether two texts are the same barcode, however the platform pads it."""
    return one.isdigit() and other.isdigit() and one.zfill(BARCODE_DIGITS_MAX) == other.zfill(BARCODE_DIGITS_MAX)


def padded(barcodes: pa.Array) -> pa.Array:
    """Barcodes as the platform returns them: padded on the left with zeros to 14 digits. A text with a non-digit becomes null."""
    text = pc.ascii_lpad(barcodes, width=BARCODE_DIGITS_MAX, padding="0")
    return pc.if_else(
        pc.match_substring_regex(text, rf"^\d{{{BARCODE_DIGITS_MAX}}}$"), text, pa.scalar(None, pa.string())
    )
