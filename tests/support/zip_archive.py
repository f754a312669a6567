"""Zip archives as an ERP packs them."""

from __future__ import annotations

import io
import zipfile


def zipped(*members: tuple[str, bytes], password: bool = False) -> bytes:
    """An archive of (name, content). `password`: its first member is marked as encrypted."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    packed = bytearray(data.getvalue())
    if password:  # the flag of the first member, in its own header and in the directory
        packed[6] |= 1
        packed[packed.index(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)
