"""A job's log as the platform gives it: CSV in every shape of the field notes (jobs), read as a stream in bounded memory.

A byte-order mark, gzip, quotes, line breaks inside quotes, further columns and text in a wrong encoding are all read. What is no
log (a web page, JSON, nothing at all) and what was cut off are told apart from it.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from shelfsync.catalog import jsontext, verdict
from shelfsync.columns import LOG
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK_BYTES = 3 * 512 * 1024
"""The longest line that is read; the CSV reader reads some thirty of these ahead, and holds no more."""

EXPANDED_BYTES_MAX = 512 * 1024 * 1024
"""The longest log that is read, after decompression."""

_NAMES = {
    "sku": ("sku",),
    "barcode": ("piece_barcode", "barcode"),
    "state": ("state", "status"),
    "errors": ("errors", "error"),
}
_HEADER_BYTES_MAX = 64 * 1024
_PULL_BYTES = 256 * 1024
_TAIL_BYTES = 4096
_RETRY = "fetch it again"


class TruncatedLogError(DataError):
    """The log breaks off before its end. `log` holds the lines that came whole (LOG shape): each of them still counts."""

    def __init__(self, problem: str, log: pa.Table | None = None) -> None:
        self.problem = problem
        self.log = LOG.empty_table() if log is None else log
        super().__init__(
            f"the job log is cut off: {problem}; whole lines before that: {self.log.num_rows}. {_RETRY.capitalize()}"
        )


def read(file: BinaryIO, *, whole: bool = False, expanded_bytes_max: int = EXPANDED_BYTES_MAX) -> Iterator[pa.Table]:
    """The log's lines in their order, some thousands at a time, in LOG shape.

    A last line without its end may be half a line (a closing quote too may be half of a doubled one) and does not count, unless
    `whole` says that the file's length was proven. Lines of the wrong shape come as lines that name nobody. Raises a
    TruncatedLogError (its `log` is empty here) after the lines that came whole, a DataError where this is no log at all.
    """
    source = _Source(file, expanded_bytes_max)
    header = source.header()
    if source.cut_off:  # before the end of its first line
        raise TruncatedLogError(source.cut_off)
    columns = _columns(header)
    if source.at_end():
        if source.cut_off:
            raise TruncatedLogError(source.cut_off)
        return
    bad: list[pa_csv.InvalidRow] = []
    last: pa.RecordBatch | None = None
    for rows in _rows(source, len(columns), bad):
        if last is not None:
            yield _lines(last, columns)
        last = rows
    end = _End(source, bad, last, whole)
    if last is not None:
        yield _lines(last if end.counts else last.slice(0, max(last.num_rows - 1, 0)), columns)
    if end.half_is_bad:
        bad.pop()
    if bad:
        yield _unreadable(bad, len(columns))
    if end.cut_off:
        raise TruncatedLogError(end.cut_off)


def _columns(header: bytes) -> list[str]:
    """The names in the first line; a DataError says what the file is when it is no log."""
    text = header.decode("utf-8", "replace").strip()
    if not text:
        raise DataError(f"the job log is empty, without even a header; {_RETRY}")
    if text.startswith("<"):
        raise DataError(
            f"the job log is a web page, not CSV (it begins {text[:60]!r}); the link may have expired: {_RETRY}"
        )
    try:
        names = [name.strip() for name in next(csv.reader([text]))]
    except csv.Error:
        names = []
    if (
        text[0] in "{["
        or not ({"sku", *_NAMES["barcode"]} & _folded(names))
        or not (set(_NAMES["state"]) & _folded(names))
    ):
        raise DataError(
            f"the job log has no header with sku and state; it begins {text[:60]!r}. Look at the file: its shape is new"
        )
    return names


def _rows(source: _Source, columns: int, bad: list[pa_csv.InvalidRow]) -> Iterator[pa.RecordBatch]:
    def set_aside(row: pa_csv.InvalidRow) -> str:
        bad.append(row)
        return "skip"

    names = [str(position) for position in range(columns)]  # the header's own may repeat
    try:
        yield from pa_csv.open_csv(
            source,
            pa_csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES, use_threads=False),
            pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=set_aside),
            pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        why = str(error).splitlines()[0]
        if "straddl" in why:
            why = f"a line of more than {_BLOCK_BYTES} bytes, or a quote that is never closed"
        raise DataError(f"the job log cannot be read as CSV: {why}; {_RETRY}") from None


class _End:
    """Whether the last line read is a whole one, and if the log breaks off, how that shows."""

    def __init__(self, source: _Source, bad: list[pa_csv.InvalidRow], last: pa.RecordBatch | None, whole: bool) -> None:
        ended = source.tail.endswith((b"\n", b"\r"))
        last_value = last[-1][-1].as_py() if last is not None and last.num_rows else ""
        open_quote = source.quotes % 2 == 1 and (not ended or "\n" in last_value)
        bad_at_end = bool(bad) and _is_last(bad[-1].text, source.tail)
        half = not ended and (not whole or source.cut_off is not None)
        self.cut_off = source.cut_off
        if open_quote and not whole:
            self.cut_off = self.cut_off or "its last line ends inside quotes"
        elif bad_at_end and half:
            self.cut_off = self.cut_off or "its last line has too few fields"
        self.half_is_bad = bad_at_end and self.cut_off is not None
        self.counts = bad_at_end or not (open_quote or half)


def _is_last(line: str, tail: bytes) -> bool:
    data = line.encode("utf-8", "replace")
    tail = tail.rstrip(b"\r\n")
    return (
        tail.endswith(data[-_TAIL_BYTES // 2 :])
        if len(data) > _TAIL_BYTES // 2
        else tail.endswith((b"\n" + data, b"\r" + data))
    )


def _lines(rows: pa.RecordBatch, columns: list[str]) -> pa.Table:
    """Rows of the file in LOG shape."""
    texts = rows.columns
    folded = [name.casefold() for name in columns]
    found = {
        ours: texts[next(folded.index(name) for name in theirs if name in folded)]
        for ours, theirs in _NAMES.items()
        if set(theirs) & set(folded)
    }
    nothing = pa.nulls(rows.num_rows, pa.string())
    sku, barcode = (_said(found.get(name, nothing)) for name in ("sku", "barcode"))
    errors = found.get("errors", nothing)
    return verdict.lines(
        sku=sku, barcode=barcode, state=found["state"], errors=errors, raw=jsontext.objects(columns, texts)
    )


def _unreadable(bad: list[pa_csv.InvalidRow], columns: int) -> pa.Table:
    problems = [f"the line has {row.actual_columns} fields instead of {columns}" for row in bad]
    return verdict.unreadable(problems, jsontext.quoted(pa.array([row.text for row in bad], pa.string())))


def _said(texts: pa.Array) -> pa.Array:
    """Null for what is blank: a line that names nobody."""
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), pa.scalar(None, pa.string()), texts)


def _folded(names: list[str]) -> set[str]:
    return {name.casefold() for name in names}


class _Source(io.RawIOBase):
    """The plain bytes of a log, counted; remembers what tells whether the last line is a whole one.

    What is not UTF-8 becomes U+FFFD: a text with it can be shown, and a SKU with it matches nothing.
    """

    def __init__(self, file: BinaryIO, bytes_max: int) -> None:
        super().__init__()
        first = file.read(2)
        rest = _Rest(first, file)
        self._file = gzip.GzipFile(fileobj=rest, mode="rb") if first == b"\x1f\x8b" else rest
        self._bytes_max = bytes_max
        self._pending = b""
        self._bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.quotes = 0
        self.tail = b"\n"  # of the header
        self.cut_off: str | None = None

    def readable(self) -> bool:
        return True

    def header(self) -> bytes:
        """The first line, without its end. What follows is what `read` gives."""
        data = b""
        while b"\n" not in data and len(data) < _HEADER_BYTES_MAX:
            more = self._pull(_HEADER_BYTES_MAX)
            if not more:
                break
            data = (data + more).removeprefix(b"\xef\xbb\xbf").lstrip()
        line, _, self._pending = data.partition(b"\n")
        return line

    def at_end(self) -> bool:
        """Whether nothing but blank lines follows."""
        while not self._pending.strip():
            self._pending = self._pull(_HEADER_BYTES_MAX)
            if not self._pending:
                return True
        return False

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked for while there are some: the CSV reader takes what one call gives for a block of its own."""
        parts, missing = [], size if size >= 0 else self._bytes_max
        while missing > 0 and (data := self._pending or self._pull(_PULL_BYTES)):
            parts.append(data[:missing])
            self._pending = data[missing:]
            missing -= len(parts[-1])
        data = b"".join(parts)
        self.quotes += data.count(b'"')
        self.tail = (self.tail + data[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        return data

    def _pull(self, size: int) -> bytes:
        data = self._unpacked(size)
        text = self._decoder.decode(data, final=not data).encode()
        return text if text or not data else self._pull(size)  # half a character is no end

    def _unpacked(self, size: int) -> bytes:
        try:
            data = self._file.read1(size)
        except EOFError:
            self.cut_off = "its compressed data has no end"
            return b""
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"the job log is damaged: it does not unpack ({error}); {_RETRY}") from None
        self._bytes += len(data)
        if self._bytes > self._bytes_max:
            raise DataError(
                f"the job log has more than {self._bytes_max} bytes unpacked, which no log of one job has; nothing of it counts"
            )
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
