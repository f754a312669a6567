"""A delta as request bodies of the catalog update (interface.md 4.1), each within the byte limit to the byte.

A body is `{"products":[item,item,…]}` without a space. The same items always give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shelfsync.errors import DataError
from shelfsync.rows import item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

Key = Literal["sku", "barcode"]

_OPEN, _CLOSE = b'{"products":[', b"]}"
_ROWS_AT_ONCE = 32_768
"""Items turned into text at a time; it bounds the memory of a streamed body."""
_CHUNK_BYTES = 256 * 1024


class Body:
    """The bytes of one request as an iterable of chunks that can be read again; `len()` is their exact number."""

    def __init__(self, pieces: Callable[[], Iterator[memoryview]], body_bytes: int) -> None:
        self._pieces = pieces
        self._body_bytes = body_bytes

    def __len__(self) -> int:
        return self._body_bytes

    def __iter__(self) -> Iterator[bytes]:
        """Chunks of at most 256 KiB. Each piece of items ends in a comma; the closing brackets replace the last comma."""
        left = self._body_bytes - len(_OPEN) - len(_CLOSE)
        yield _OPEN
        for piece in self._pieces():
            for start in range(0, len(piece), _CHUNK_BYTES):
                chunk = bytes(piece[start : start + min(_CHUNK_BYTES, left)])
                left -= len(chunk)
                if chunk:
                    yield chunk
        yield _CLOSE

    def __bytes__(self) -> bytes:
        return b"".join(self)


@dataclass(frozen=True)
class Batch:
    """One request: its `items` in DELTA schema, its `body`, and the exact length of that."""

    items: pa.Table
    body: Body
    body_bytes: int


def cut(delta: pa.Table, *, key: Key, sales_limit_name: str, body_max_bytes: int) -> Iterator[Batch]:
    """The delta as batches, each as long as it can be; their items one after the other are the delta. An empty delta gives none.

    Holds the text of one body at a time. A DataError names the SKU whose item alone is over the limit.
    """
    room = body_max_bytes - len(_OPEN) - len(_CLOSE) + 1  # the last item's comma is not sent
    first, used, pieces = 0, 0, list[memoryview]()
    for start, ends, text in _texts(delta, key, sales_limit_name):
        row, rows = 0, len(ends) - 1
        while row < rows:
            fit = int(ends.searchsorted(ends[row] + room - used, side="right")) - 1
            if fit > row:
                pieces.append(text[ends[row] : ends[fit]])
                used += int(ends[fit] - ends[row])
                row = fit
            if row < rows:
                if not pieces:
                    raise _oversized(delta, start + row, int(ends[row + 1] - ends[row]), body_max_bytes)
                yield _batch(delta.slice(first, start + row - first), pieces, used)
                first, used, pieces = start + row, 0, []
    if pieces:
        yield _batch(delta.slice(first), pieces, used)


def body(items: pa.Table, *, key: Key, sales_limit_name: str) -> bytes:
    """The bytes of the request that carries these items."""
    text = b"".join(text for _, _, text in _texts(items, key, sales_limit_name))
    return _OPEN + text.removesuffix(b",") + _CLOSE


def stream(items: pa.Table, *, key: Key, sales_limit_name: str, body_bytes: int | None = None) -> Body:
    """The same bytes, produced while they are read, in bounded memory.

    `body_bytes`: their length, if it is known (of a batch); otherwise they are produced twice, once to count them.
    """
    if body_bytes is None:
        counted = sum(int(ends[-1]) for _, ends, _ in _texts(items, key, sales_limit_name))
        body_bytes = len(_OPEN) + max(counted - 1, 0) + len(_CLOSE)
    return Body(lambda: (text for _, _, text in _texts(items, key, sales_limit_name)), body_bytes)


def _texts(items: pa.Table, key: Key, sales_limit_name: str) -> Iterator[tuple[int, npt.NDArray[np.int64], memoryview]]:
    """The items' texts, some rows at a time: number of the first row, the offset of each item (and the end of the last), all bytes."""
    import numpy as np

    for start in range(0, items.num_rows, _ROWS_AT_ONCE):
        texts = item.texts(items.slice(start, _ROWS_AT_ONCE), key=key, sales_limit_name=sales_limit_name)
        _, offsets, data = texts.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32, count=len(texts) + 1).astype(np.int64)
        yield start, ends, memoryview(data)[: ends[-1]]


def _batch(items: pa.Table, pieces: list[memoryview], used: int) -> Batch:
    body_bytes = len(_OPEN) + used - 1 + len(_CLOSE)
    return Batch(items, Body(lambda: iter(pieces), body_bytes), body_bytes)


def _oversized(delta: pa.Table, row: int, item_bytes: int, body_max_bytes: int) -> DataError:
    sku = delta["sku"][row].as_py()
    alone = len(_OPEN) + item_bytes - 1 + len(_CLOSE)
    return DataError(
        f"batch: the item of SKU {sku!r} alone makes a body of {alone} bytes, more than the {body_max_bytes} that"
        " SHELFSYNC_SYNC__BODY_MAX_BYTES allows; raise that or shorten the key in the ERP"
    )
