"""A digest of rows as the ERP gave them: another text in any column, or another order, is another digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Self

import numpy as np

from shelfsync.schemas import RAW

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

PLACE = "row_number"
"""Where a row stands in the extract: another vendor's new row moves it, and nothing is sent of it."""

COLUMNS = tuple(name for name in RAW.names if name != PLACE)

_NULL = -1


class RowsDigest:
    """Takes one vendor's rows (RAW schema) in order, in any pieces. Of each column it digests the lengths (null: -1) and the texts."""

    def __init__(self) -> None:
        self._columns = {name: (hashlib.sha256(), hashlib.sha256()) for name in COLUMNS}
        self._places = hashlib.sha256()

    def add(self, rows: pa.Table) -> Self:
        """Takes the next rows."""
        for name, (lengths, texts) in self._columns.items():
            for chunk in rows[name].chunks:
                if chunk.null_count == len(chunk):
                    lengths.update(np.full(len(chunk), _NULL, np.int32).data)
                else:
                    _add(chunk, lengths, texts)
        for chunk in rows[PLACE].chunks:
            self._places.update(chunk.fill_null(_NULL).to_numpy().data)
        return self

    def value(self) -> str:
        """The digest of what was taken so far."""
        return self._of().hexdigest()

    def with_places(self) -> str:
        """The same with the places of the rows in the extract: the digest of a file of these rows."""
        found = self._of()
        found.update(self._places.digest())
        return found.hexdigest()

    def _of(self) -> hashlib._Hash:
        return hashlib.sha256(b"".join(one.digest() for both in self._columns.values() for one in both))


def _add(chunk: pa.StringArray, lengths: hashlib._Hash, texts: hashlib._Hash) -> None:
    nulls = None
    if chunk.null_count:
        nulls = chunk.is_null().to_numpy(zero_copy_only=False)
        chunk = chunk.fill_null("")  # what lies under a null is not text
    _, offsets, data = chunk.buffers()
    ends = np.frombuffer(offsets, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    sizes = np.diff(ends)
    if nulls is not None:
        sizes[nulls] = _NULL
    lengths.update(sizes.data)
    if data is not None:
        texts.update(data[ends[0] : ends[-1]])


def digest_of(pieces: Iterable[pa.Table]) -> str:
    """The digest of one vendor's rows in these pieces."""
    found = RowsDigest()
    for piece in pieces:
        found.add(piece)
    return found.value()
