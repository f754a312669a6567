"""A checksum of request bodies: bodies with the same items and values have the same checksum, whatever their spelling."""

from __future__ import annotations

import json
import zlib
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def checksum(bodies: Iterable[bytes]) -> str:
    """Of the items of all bodies, in their order."""
    found = 0
    for body in bodies:
        for item in json.loads(body, parse_float=Decimal, parse_int=Decimal)["products"]:
            values = sorted(
                (name, format(value.normalize(), "f") if isinstance(value, Decimal) else str(value))
                for name, value in item.items()
            )
            found = zlib.crc32(json.dumps(values).encode(), found)
    return f"{found:08x}"
