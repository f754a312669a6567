"""Vendor ids: what the platform's addresses, the ledger's indexes and the lake's folders can hold as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.number import mask

if TYPE_CHECKING:
    from shelfsync.catalog.number import Mask

LENGTH_MAX = 255
_STRANGE = r"[\p{Cc}\x{FFFD}]"


def faults(vendors: pa.Array) -> list[tuple[str, Mask]]:
    """What makes a vendor id useless, in the order in which it is looked at; each is a reason of `reason.REASONS`."""
    trimmed = pc.utf8_trim_whitespace(vendors)
    return [
        ("vendor_missing", ~mask(pc.not_equal(trimmed, ""))),
        ("vendor_characters", mask(pc.match_substring_regex(vendors, _STRANGE))),
        ("vendor_too_long", mask(pc.greater(pc.utf8_length(trimmed), LENGTH_MAX))),
        ("vendor_is_folder", mask(pc.is_in(trimmed, value_set=pa.array([".", ".."])))),
    ]


def unusable(vendors: pa.Array) -> Mask:
    """Rows without a usable vendor."""
    return sum((where for _, where in faults(vendors)), start=mask(pa.array([False] * len(vendors))))


def is_usable(vendor: str) -> bool:
    """Whether this one text can be a vendor's id."""
    try:
        return not unusable(pa.array([vendor], pa.string())).any()
    except UnicodeEncodeError:
        return False
