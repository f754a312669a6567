"""A CSV file that the platform serves, a job's log or an export, read as a stream and within limits.

Reading any file takes bounded memory and time: its bytes, lines, columns, header, lines and cells are bounded by result_limits.py,
and so is the JSON text of whole lines or further columns. A file beyond a limit is rejected as a whole, with its reason.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import tempfile
import time
import weakref
import zlib
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from shelfsync.errors import DataError
from shelfsync.rows import item
from shelfsync.rows.result_limits import (
    CELL_CHARACTERS_MAX,
    COLUMNS_MAX,
    HEADER_BYTES_MAX,
    JSON_BYTES_MAX,
    LINE_BYTES_MAX,
    LINES_MAX,
    UNREADABLE_MAX,
    UNREADABLE_SAMPLES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_UNREADABLE_CHARACTERS = 2000
_PULL_BYTES = 256 * 1024
_TAIL_BYTES = 4096
_GONE_S = 5.0


@dataclass(frozen=True)
class Kind:
    """What a file is called in messages, and what to do when it cannot be read."""

    name: str
    columns: str
    """What its header has."""
    retry: str
    too_long: str
    """The end of the message about a file with too many bytes."""


@dataclass
class Unreadable:
    """Lines with more or fewer fields than the header: the first of them, and how many there are."""

    samples: list[tuple[int, str]] = field(default_factory=list)
    """Number of fields and text, cut."""
    count: int = 0
    last: str = ""

    def add(self, row: pa_csv.InvalidRow) -> str:
        """What the CSV reader is to do about it."""
        self.count += 1
        self.last = row.text
        if len(self.samples) < UNREADABLE_SAMPLES:
            self.samples.append((row.actual_columns, row.text[:_UNREADABLE_CHARACTERS]))
        return "skip" if self.count <= UNREADABLE_MAX else "error"

    def is_last(self, tail: bytes) -> bool:
        """Whether the last of them is the last line of a file that ends in these bytes."""
        if not self.count:
            return False
        data, tail = self.last.encode("utf-8", "replace"), tail.rstrip(b"\r\n")
        if len(data) > _TAIL_BYTES // 2:
            return tail.endswith(data[-_TAIL_BYTES // 2 :])
        return tail.endswith((b"\n" + data, b"\r" + data))

    def forget_last(self) -> None:
        """The last of them is half a line, and no line."""
        if len(self.samples) == self.count:
            self.samples.pop()
        self.count -= 1


def columns_of(header: bytes, kind: Kind, fits: Callable[[set[str]], bool]) -> list[str]:
    """The names in the first line; a DataError describes a file that is not of this kind. `fits` gets them in lower case."""
    text = header.decode("utf-8", "replace").strip()
    if not text:
        raise DataError(f"{kind.name} is empty, without even a header; {kind.retry}")
    if text.startswith("<"):
        raise DataError(
            f"{kind.name} is a web page, not CSV (it begins {text[:60]!r}); the link may have expired: {kind.retry}"
        )
    try:
        names = [name.strip() for name in next(csv.reader([text]))]
    except (csv.Error, StopIteration):
        names = []
    if text[0] in "{[" or not fits({name.casefold() for name in names}):
        raise DataError(
            f"{kind.name} has no header with {kind.columns}; it begins {text[:60]!r}. Look at the file: its format is new"
        )
    return names


def batches(source: Source, columns: int, unreadable: Unreadable) -> Iterator[pa.RecordBatch]:
    """The lines after the header as columns of text, named by their place: the header's own names may repeat."""
    kind = source.kind
    if columns > COLUMNS_MAX:
        raise DataError(f"{kind.name} has {columns} columns, {COLUMNS_MAX} are allowed; nothing of it counts")
    names = [str(place) for place in range(columns)]
    lines = 0
    handler = unreadable.add
    released = weakref.ref(handler)
    with tempfile.NamedTemporaryFile(prefix="shelfsync-") as plain:
        source.copy_to(plain)
        try:
            for rows in pa_csv.open_csv(
                plain.name,
                pa_csv.ReadOptions(column_names=names, block_size=LINE_BYTES_MAX, use_threads=False),
                pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=handler),
                pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
            ):
                lines += rows.num_rows
                if lines > LINES_MAX:
                    raise DataError(f"{kind.name} has more than {LINES_MAX} lines; nothing of it counts")
                yield rows
        except pa.ArrowInvalid as error:
            raise DataError(f"{kind.name} cannot be read as CSV: {_why(error, unreadable)}; {kind.retry}") from None
        finally:
            del handler
            _until_gone(released)


def _until_gone(released: weakref.ref[Any]) -> None:
    """Waits for the thread in which the CSV reader reads ahead: one that lets go of a Python object while this process ends aborts it."""
    until_s = time.monotonic() + _GONE_S
    while released() is not None and time.monotonic() < until_s:
        time.sleep(0.001)


def _why(error: pa.ArrowInvalid, unreadable: Unreadable) -> str:
    why = str(error).splitlines()[0]
    if unreadable.count > UNREADABLE_MAX:
        return f"more than {UNREADABLE_MAX} lines have more or fewer fields than the header"
    if "straddl" in why:
        return f"a line of more than {LINE_BYTES_MAX} bytes, or a quote that is never closed"
    return why[:300]


class JsonText:
    """Lines as JSON objects, as long as those of one file take no more than JSON_BYTES_MAX: each repeats every name of the header."""

    def __init__(self, names: Sequence[str], max_bytes: int | None = None) -> None:
        self._names = names
        self._name_bytes = sum(len(name.encode()) + 8 for name in names)
        self._left = JSON_BYTES_MAX if max_bytes is None else max_bytes
        self.is_whole = True

    def objects(self, columns: Sequence[pa.Array], rows: int) -> pa.Array:
        """One text a row; the empty object for rows that are one too many."""
        at_most = 6 * (sum(column.nbytes for column in columns) + rows * self._name_bytes)  # \u0000 takes six bytes
        if self.is_whole and at_most <= self._left:
            made = item.objects(self._names, [_cut(column) for column in columns])
            self._left -= made.nbytes
            return made
        self.is_whole = False
        return pa.repeat(pa.scalar("{}"), rows)


def _cut(texts: pa.Array) -> pa.Array:
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    return texts if longest <= CELL_CHARACTERS_MAX else pc.utf8_slice_codeunits(texts, 0, CELL_CHARACTERS_MAX)


class Source:
    """The plain bytes of a file, unpacked and counted, with the state that shows whether the last line is whole.

    What is not UTF-8 becomes U+FFFD: a text with it can be shown, and a SKU with it matches nothing.
    """

    def __init__(self, file: BinaryIO, kind: Kind, max_bytes: int) -> None:
        first = file.read(2)
        rest = _Rest(first, file)
        self.kind = kind
        self._file = gzip.GzipFile(fileobj=rest, mode="rb") if first == b"\x1f\x8b" else rest
        self._max_bytes = max_bytes
        self._pending = b""
        self._bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.quotes = 0
        self.tail = b"\n"  # of the header
        self.cut_off: str | None = None

    def header(self) -> bytes:
        """The first line, without its end. What follows is for `copy_to`."""
        data = b""
        while b"\n" not in data and len(data) <= HEADER_BYTES_MAX:
            more = self._pull(HEADER_BYTES_MAX)
            if not more:
                break
            data = (data + more).removeprefix(b"\xef\xbb\xbf").lstrip()
        line, _, self._pending = data.partition(b"\n")
        if len(line) > HEADER_BYTES_MAX:
            raise DataError(
                f"the first line of {self.kind.name} has more than {HEADER_BYTES_MAX} bytes, which no header has;"
                f" nothing of it counts (it begins {line[:60]!r})"
            )
        return line

    def at_end(self) -> bool:
        """Whether nothing but blank lines follows."""
        while not self._pending.strip():
            self._pending = self._pull(_PULL_BYTES)
            if not self._pending:
                return True
        return False

    def copy_to(self, plain: IO[bytes]) -> None:
        """Everything that follows the header."""
        while data := self._pending or self._pull(_PULL_BYTES):
            self._pending = b""
            self.quotes += data.count(b'"')
            self.tail = (self.tail + data[-_TAIL_BYTES:])[-_TAIL_BYTES:]
            plain.write(data)
        plain.flush()

    @property
    def ends_with_a_line(self) -> bool:
        """Whether the last line that was read has its end."""
        return self.tail.endswith((b"\n", b"\r"))

    def _pull(self, size: int) -> bytes:
        while True:
            data = self._unpacked(size)
            text = self._decoder.decode(data, final=not data).encode()
            if text or not data:  # half a character is no end
                return text

    def _unpacked(self, size: int) -> bytes:
        try:
            data = self._file.read1(size)
        except EOFError:
            self.cut_off = "its compressed data has no end"
            return b""
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{self.kind.name} is damaged: it does not unpack ({error}); {self.kind.retry}") from None
        self._bytes += len(data)
        if self._bytes > self._max_bytes:
            raise DataError(f"{self.kind.name} has more than {self._max_bytes} bytes unpacked, {self.kind.too_long}")
        return data


class _Rest(io.RawIOBase):
    """A file from its beginning, after its first bytes were looked at."""

    def __init__(self, first: bytes, file: BinaryIO) -> None:
        super().__init__()
        self._first = first
        self._file = file

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        return self._file.read(size)

    read = read1
