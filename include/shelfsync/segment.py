"""One part of a path for any name that comes from outside."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

PLAIN_BYTES_MAX = 150
"""A longer name is cut and ends in its digest: a filesystem takes 255 bytes."""

_CUT_BYTES = 120


def segment(name: str) -> str:
    """The name as one part of a path: of this name alone, never a way to another folder, never hidden, at most 255 bytes.

    Whatever is no plain character of a name is written as %XX. A cut name is longer than any that is not cut, so that the two never meet.
    """
    data = name.encode("utf-8", "surrogatepass")
    text = quote(data, safe="") or "_"
    if text.startswith("."):
        text = f"%2E{text[1:]}"
    if name == "_":
        text = "%5F"
    if len(text) <= PLAIN_BYTES_MAX:
        return text
    return f"{text[:_CUT_BYTES]}~{hashlib.sha256(data).hexdigest()}"
