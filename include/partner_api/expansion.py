"""gzip and zlib, expanded piece by piece, so that a decompression bomb stops early."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


PIECE_BYTES = 64 * 1024


class Expander:
    """gzip (several members too) or zlib, as an iterator of pieces of at most 64 KiB, so that a decompression bomb shows early."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, as the header shows
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces that these bytes give."""
        while data:
            if self._engine.eof:
                if not data.strip(b"\0"):
                    return  # padding after the last member
                self._engine = zlib.decompressobj(wbits=47)
            self._started = True
            piece = self._engine.decompress(data, PIECE_BYTES)
            if piece:
                yield piece
            data = self._engine.unused_data if self._engine.eof else self._engine.unconsumed_tail

    @property
    def complete(self) -> bool:
        """Whether the stream's own end mark (with its checksum) was seen."""
        return self._engine.eof or not self._started
