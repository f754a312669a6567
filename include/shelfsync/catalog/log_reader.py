"""A job's log as the platform gives it: CSV in every variant of the field notes (jobs), read as a stream in bounded memory.

A byte-order mark, gzip, quotes, line breaks inside quotes, further columns and text in a wrong encoding are all read. A file that is no log
(a web page, JSON, an empty file) and a log that was cut off raise an error. `log_lines` turns the result for one item into an outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.line_outcome import log_lines, unreadable_lines
from shelfsync.errors import DataError
from shelfsync.rows import item
from shelfsync.rows.result_csv import JsonText, Kind, Source, Unreadable, batches, columns_of
from shelfsync.rows.result_limits import EXPANDED_BYTES_MAX
from shelfsync.schemas import LOG

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = {
    "sku": ("sku",),
    "barcode": ("piece_barcode", "barcode"),
    "state": ("state", "status"),
    "errors": ("errors", "error"),
}
_RETRY = "fetch it again"
_KIND = Kind("the job log", "sku and state", _RETRY, "which no log of one job has; nothing of it counts")


class TruncatedLogError(DataError):
    """The log breaks off before its end. `log` has the complete lines (LOG schema): each of them still counts."""

    def __init__(self, problem: str, log: pa.Table | None = None) -> None:
        self.problem = problem
        self.log = LOG.empty_table() if log is None else log
        super().__init__(
            f"the job log is cut off: {problem}; whole lines before that: {self.log.num_rows}. {_RETRY.capitalize()}"
        )


def parse_log(file: BinaryIO, *, whole: bool = False, expanded_max_bytes: int = EXPANDED_BYTES_MAX) -> pa.Table:
    """A log file in LOG schema, line by line in its order; the text is read as a stream.

    `whole`: the length of the file was proven, so a last line without a line break is a line. Raises a TruncatedLogError with the
    complete lines if the file is truncated, and a DataError if it is no log (a web page, JSON, nothing, damaged gzip).
    """
    tables = [LOG.empty_table()]
    try:
        tables.extend(_read(file, whole=whole, expanded_max_bytes=expanded_max_bytes))
    except TruncatedLogError as error:
        raise TruncatedLogError(error.problem, pa.concat_tables(tables).combine_chunks()) from None
    return pa.concat_tables(tables).combine_chunks()


def _read(file: BinaryIO, *, whole: bool = False, expanded_max_bytes: int = EXPANDED_BYTES_MAX) -> Iterator[pa.Table]:
    """The log's lines in their order, some thousands at a time, in LOG schema.

    A last line without its end may be half a line (a closing quote too may be half of a doubled one) and does not count, unless
    `whole`: the file's length was proven. A line with a wrong number of fields comes as a line without a SKU. Raises a TruncatedLogError
    (its `log` is empty here) after the complete lines, and a DataError if the file is no log.
    """
    source = Source(file, _KIND, expanded_max_bytes)
    header = source.header()
    if source.cut_off:  # before the end of its first line
        raise TruncatedLogError(source.cut_off)
    columns = columns_of(header, _KIND, _is_log)
    if source.at_end():
        if source.cut_off:
            raise TruncatedLogError(source.cut_off)
        return
    bad = Unreadable()
    texts = JsonText(columns)
    last: pa.RecordBatch | None = None
    for rows in batches(source, len(columns), bad):
        if last is not None:
            yield _lines(last, columns, texts)
        last = rows
    end = _End(source, bad, last, whole)
    if last is not None:
        yield _lines(last if end.counts else last.slice(0, max(last.num_rows - 1, 0)), columns, texts)
    if end.half_is_bad:
        bad.forget_last()
    if bad.count:
        yield _unreadable(bad, len(columns))
    if end.cut_off:
        raise TruncatedLogError(end.cut_off)


def _is_log(names: set[str]) -> bool:
    return bool({"sku", *_NAMES["barcode"]} & names and set(_NAMES["state"]) & names)


class _End:
    """Whether the last line read is a whole one, and if the log breaks off, how that shows."""

    def __init__(self, source: Source, bad: Unreadable, last: pa.RecordBatch | None, whole: bool) -> None:
        ended = source.ends_with_a_line
        last_value = last[-1][-1].as_py() if last is not None and last.num_rows else ""
        open_quote = source.quotes % 2 == 1 and (not ended or "\n" in last_value)
        bad_at_end = bad.is_last(source.tail)
        half = not ended and (not whole or source.cut_off is not None)
        self.cut_off = source.cut_off
        if open_quote and not whole:
            self.cut_off = self.cut_off or "its last line ends inside quotes"
        elif bad_at_end and half:
            self.cut_off = self.cut_off or "its last line has too few fields"
        self.half_is_bad = bad_at_end and self.cut_off is not None
        self.counts = bad_at_end or not (open_quote or half)


def _lines(rows: pa.RecordBatch, columns: list[str], json: JsonText) -> pa.Table:
    """Rows of the file in LOG schema."""
    texts = rows.columns
    folded = [name.casefold() for name in columns]
    found = {
        ours: texts[next(folded.index(name) for name in theirs if name in folded)]
        for ours, theirs in _NAMES.items()
        if set(theirs) & set(folded)
    }
    nothing = pa.nulls(rows.num_rows, pa.string())
    sku, barcode = (_without_blanks(found.get(name, nothing)) for name in ("sku", "barcode"))
    errors = found.get("errors", nothing)
    return log_lines(
        sku=sku, barcode=barcode, state=found["state"], errors=errors, raw=json.objects(texts, rows.num_rows)
    )


def _unreadable(bad: Unreadable, columns: int) -> pa.Table:
    problems = [f"the line has {fields} fields instead of {columns}" for fields, _ in bad.samples]
    texts = [text for _, text in bad.samples]
    if bad.count > len(bad.samples):
        problems.append(f"{bad.count - len(bad.samples)} more lines have more or fewer fields than {columns}")
        texts.append("")
    return unreadable_lines(problems, item.quoted(pa.array(texts, pa.string())))


def _without_blanks(texts: pa.Array) -> pa.Array:
    """The texts, null where they are blank: such a line names no SKU."""
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), pa.scalar(None, pa.string()), texts)
