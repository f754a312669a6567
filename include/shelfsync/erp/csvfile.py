"""One CSV file; one bad row costs that row alone, and a file that was cut is detected.

Lines that are plain rows are read as a block (see plain_block.py), all others row by row. An empty field is null: CSV has no other sign for a missing value. A row whose fields cannot be separated (too many, too few, a quote in the
wrong place) is passed on as damaged, and so is each line that a stray quote joined to others (see joined_rows.py). Bytes that do not decode are escaped in place (see text.py).
"""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.erp import first_bytes, packed_files, text_encoding
from shelfsync.erp.columns import Chunk
from shelfsync.erp.joined_rows import SAMPLE_ROWS, Forms
from shelfsync.erp.likely_cause import likely_cause
from shelfsync.erp.no_row import (
    END,
    HEADER_AGAIN,
    RULE,
    TOTAL,
    folded,
    is_end,
    is_rule,
    last_is_total,
    names_again,
    totals_line,
)
from shelfsync.erp.plain_block import columns_of
from shelfsync.erp.text import ESCAPING, MARK
from shelfsync.errors import ConfigurationError, DataError, EmptyFileError, IncompleteExtractError, without_stop

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    import pyarrow as pa

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout
    from shelfsync.errors import ShelfsyncError

DELIMITER = "SHELFSYNC_ERP__CSV_DELIMITER"
ENCODING = "SHELFSYNC_ERP__CSV_ENCODING"
QUOTING = "SHELFSYNC_ERP__CSV_QUOTING"
_LINE_CHARACTERS_MAX = 1024 * 1024
_AHEAD_CHARACTERS = 2 * _LINE_CHARACTERS_MAX
"""Longer than every line."""
_FIRST_CHARACTERS = 64 * 1024
"""What is read for the header, also of a file that is cut later."""
_SHOWN_CHARACTERS = 160
_DOS_END = "\x1a"
"""Programs of old end a file with it."""


class WrongValueError(csv.Error):
    """A row that is whole has a value that none can be: it is set aside, and the file is not cut there. `vendor`: the row's, if it is known."""

    def __init__(self, problem: str, vendor: str | None = None) -> None:
        super().__init__(problem)
        self.vendor = vendor


class CsvFile:
    """One file; after the last chunk, `unterminated` reports a possible loss."""

    has_texts_alone = True
    """Whether each cell is a text."""
    is_delimited = True
    """Whether the delimiter alone parts a line into cells."""
    allowed: tuple[str, ...] = ()
    """The kinds of files, by their first bytes, that it reads besides text."""

    def __init__(
        self,
        found: FoundFile,
        layout: Layout,
        delimiter: str,
        encoding: str,
        header_row: int = 1,
        *,
        quoted: bool = True,
    ) -> None:
        self._found = found
        self._layout = layout
        self._quoted = quoted
        self._delimiter = _DELIMITERS.get(delimiter, delimiter)
        self._encoding = encoding
        self._vendor_place: int | None = None
        """The vendor's column, once the header is read."""
        self._header_row = header_row
        self.unterminated = False
        """The last row has all its fields but no line break behind it: it may have been cut inside its last field."""
        if len(self._delimiter) != 1 or self._delimiter in '"\r\n':
            raise ConfigurationError(
                DELIMITER,
                f"{delimiter!r} is no delimiter",
                "Give one character, or `tab`, `comma`, `semicolon`, `pipe`.",
            )

    def names(self) -> tuple[str, ...]:
        """The header. Raises IncompleteExtractError if the file was cut inside it or is empty."""
        with self._open() as file:
            try:
                lines = _Lines(file, self._found.name, skipped=self._header_row - 1)
                return self._header(self._reader(lines))
            except UnicodeError as error:
                raise self._undecodable(error) from None
            except packed_files.CUT as error:
                raise self._broken_off("before its header", error) from None

    def likely_cause(self) -> ShelfsyncError | None:
        """Why the file does not have the columns that are looked for, if its beginning shows it."""
        return likely_cause(self._found, self._delimiter, self._encoding, self._header_row, quoted=self._quoted)

    def chunks(self, rows: int) -> Generator[Chunk]:
        """The rows below the header, up to `rows` at a time. Raises IncompleteExtractError if the file was cut or is empty."""
        total, intact, damages = 0, 0, list[str]()
        with self._open() as file:
            lines = _Lines(file, self._found.name, skipped=self._header_row - 1)
            try:
                reader = self._reader(lines)
                names = self._header(reader)
                for part in self._parts(reader, lines, names, rows):
                    damages = damages or part.damaged[:1]
                    columns = part.columns or [self._cells(column) for column in zip(*part.intact, strict=True)]
                    damaged = (*part.damaged, *part.joined, *part.no_rows)
                    intact += len(columns[0]) if columns else 0
                    count = (len(columns[0]) if columns else 0) + len(damaged)
                    total += count
                    part.intact.clear()
                    yield Chunk(
                        names,
                        columns or [[] for _ in names],
                        count,
                        self._found.name,
                        self._found.vendor,
                        damaged,
                        part.damaged_vendors,
                        no_rows=len(part.no_rows),
                    )
            except UnicodeError as error:
                raise self._undecodable(error) from None
            except packed_files.CUT as error:
                raise self._broken_off(f"after {total} rows", error) from None
        if not total:
            raise EmptyFileError(
                f"{self._found.name} has a header and no row. An empty file is taken for a broken one: nothing was sent."
            )
        if not intact and total > 1 and damages:
            raise self._none_read(total, damages[0])

    def _none_read(self, rows: int, first: str) -> ShelfsyncError:
        """Why all rows are damaged. `first`: the first of them."""
        return self.likely_cause() or DataError(
            f"Not one of the {rows} rows of {self._found.name} has the fields of its header: {first}. "
            f"Nothing was sent; correct {DELIMITER} or the file."
        )

    def _reader(self, lines: _Lines) -> Any:
        return csv.reader(
            lines,
            delimiter=self._delimiter,
            quoting=csv.QUOTE_MINIMAL if self._quoted else csv.QUOTE_NONE,
            strict=True,
        )

    def _parts(self, reader: Any, lines: _Lines, names: tuple[str, ...], rows: int) -> Iterator[_Part]:
        part, sample, header = _Part(), list[list[str]](), folded(names)
        sku, self._vendor_place = self._place_of("sku", names), self._place_of("vendor", names)
        while lines.pass_empty():
            columns = self._plain_columns(lines, header, sku)
            if part.taken and (columns or part.taken >= rows):
                sample = self._end(part, sample, len(names))
                yield part
                part = _Part()
            if not columns:
                self._take(part, reader, lines, header)
                continue
            sample = _rows(column[:SAMPLE_ROWS] for column in columns)
            for start in range(0, len(columns[0]), rows):
                yield _Part([self._for_hook(column.slice(start, rows)) for column in columns])
        ends = lines.terminated or part.ends_in_total or self._is_whole(lines.last)
        if part.taken:
            self._end(part, sample, len(names), sku)
            ends = ends or part.ends_in_total
            yield part
        self.unterminated = not ends

    def _plain_columns(self, lines: _Lines, header: list[str], sku: int | None) -> list[pa.ChunkedArray] | None:
        """The columns of the lines that were read ahead, if all are rows: they are taken then. A row that may be a total is looked at by itself."""
        if not self.is_delimited or not (block := lines.ahead()):
            return None
        columns = columns_of(block, self._delimiter, header, quoted=self._quoted)
        if columns is None or (
            sku is not None and last_is_total(_rows(column[-1:] for column in columns)[0], sku, self._vendor_place)
        ):
            return None
        lines.pass_over(block)
        return columns

    def _for_hook(self, column: pa.ChunkedArray) -> pa.ChunkedArray | list[Any]:
        """A mapping hook gets Python's texts, also of a block."""
        return column if self._layout.hook is None else column.to_pylist()

    def _cells(self, column: Sequence[Any]) -> list[Any]:
        return [value or None for value in column]

    def _is_whole(self, last: str) -> bool:
        """Whether a last line without a line break cannot have been cut inside its last field."""
        return self._quoted and last.endswith('"')

    def _place_of(self, ours: str, names: tuple[str, ...]) -> int | None:
        try:
            return names.index(self._layout.sources(names, self._found.name, vendor=self._found.vendor)[ours])
        except (ConfigurationError, KeyError, ValueError):  # a mapping hook may make it, or the file's name give it
            return None

    def _take(self, part: _Part, reader: Any, lines: _Lines, header: list[str]) -> None:
        """Adds the next row to the part."""
        line, width = lines.number + 1, len(header)
        lines.record.clear()
        try:
            row = next(reader)
        except csv.Error as error:
            if not self._is_no_cut(lines, width) and not isinstance(error, WrongValueError):
                self._raise_if_cut(lines, line, str(error))
            part.add_damages(self._damages(line, lines.record, str(error), width), getattr(error, "vendor", None))
            return
        part.line = line
        if names_again(row, header):
            part.no_rows.append(_damage(line, 1, HEADER_AGAIN, lines.last))
        elif row and self.has_texts_alone and is_rule(row):
            part.no_rows.append(_damage(line, 1, RULE, lines.last))
        elif self.has_texts_alone and lines.terminated and not "".join(row).strip():
            pass  # delimiters alone are as empty as an empty line
        elif len(row) == width:
            part.ends_in_total = False
            if lines.number > line:
                part.suspects.append((len(part.intact), line, tuple(lines.record)))
            part.intact.append(row)
        elif row and (totals_line(row) or is_end(row, is_whole=lines.terminated)):
            part.no_rows.append(_damage(line, 1, TOTAL if totals_line(row) else END, lines.last))
            part.ends_in_total = True
        elif "".join(row).strip() or (lines.last.strip() and not lines.terminated):  # an empty line is no row
            problem = f"{len(row)} fields instead of {width}"
            self._raise_if_cut(lines, line, problem)
            part.damaged += self._damages(line, lines.record, problem, width)

    def _end(self, part: _Part, sample: list[list[str]], width: int, sku: int | None = None) -> list[list[str]]:
        """Takes rows that a quote joined out of the intact ones, and a total at the end of the file, where the place of the SKU is given.

        `sample`: ordinary rows of the file so far; returns newer ones.
        """
        if part.suspects:  # also the rows behind one show the forms of the columns
            sample = (part.ordinary() + sample)[:SAMPLE_ROWS]
            forms = Forms(sample)
            problem = f"one quoted cell, and lines that look like rows ({QUOTING})"
            joined = [one for one in part.suspects if forms.joined(part.intact[one[0]], self._delimiter)]
            for place, _, _ in reversed(joined):
                del part.intact[place]
            part.joined = [text for _, line, record in joined for text in self._damages(line, record, problem, width)]
        last = part.intact[-1] if part.intact and sku is not None else None
        if last is not None and sku is not None and last_is_total(last, sku, self._vendor_place):
            del part.intact[-1]
            part.no_rows.append(_damage(part.line, 1, TOTAL, self._delimiter.join(last)))
            part.ends_in_total = True
        return sample

    def _is_no_cut(self, lines: _Lines, width: int) -> bool:
        """Whether a quote without an end, and no cut, ended the record: it took rows in, or its one line has all delimiters of a row."""
        filled = [line for line in lines.record if line.strip()]
        like = self._like_rows(filled, width)
        return lines.terminated and (len(like) > 1 or len(like) == len(filled) == 1)

    def _many(self, record: Sequence[str], width: int) -> bool:
        """Whether two lines of a record or more have the delimiters of a row."""
        return len(self._like_rows(record, width)) > 1

    def _like_rows(self, record: Sequence[str], width: int) -> list[int]:
        return [place for place, text in enumerate(record) if text.count(self._delimiter) >= width - 1]

    def _damages(self, line: int, record: Sequence[str], problem: str, width: int) -> list[str]:
        """A damaged record for a person; each of its lines, if they are rows that a quote joined, so that they count as they are."""
        if not self._many(record, width):
            return [_damage(line, len(record), problem, "".join(record))]
        last = line + len(record) - 1
        return [
            _damage(line + place, 1, f"joined by a quote, lines {line}-{last}: {problem}", record[place])
            for place in self._like_rows(record, width)
        ]

    def _raise_if_cut(self, lines: _Lines, line: int, problem: str) -> None:
        """A row that is not whole and has no line break behind it is where the file was cut."""
        if (lines.ended and not lines.terminated) or "unexpected end" in problem:
            or_long = f", or a cell of it is longer than {csv.field_size_limit():,} characters" * ("larger" in problem)
            raise IncompleteExtractError(
                f"{self._found.name} was cut in the middle of the row that begins in line {line}{or_long} ({problem}). "
                "Nothing was sent; let the ERP write it again."
            )

    def _broken_off(self, where: str, error: Exception) -> IncompleteExtractError:
        return IncompleteExtractError(
            f"{self._found.name} broke off {where}: {without_stop(error)}. Nothing was sent; let the ERP write it again."
        )

    def _undecodable(self, error: UnicodeError) -> ConfigurationError:
        return ConfigurationError(
            ENCODING,
            f"{self._found.name} cannot be read as {self._encoding}: {without_stop(error)}",
            "Name the file's own encoding, such as utf-8-sig, cp1252 or cp1255.",
        )

    def _header(self, reader: Any) -> tuple[str, ...]:
        try:
            names = next(reader)
        except StopIteration:
            raise IncompleteExtractError(
                f"{self._found.name} is empty. An empty file is taken for a broken one: nothing was sent."
            ) from None
        except csv.Error as error:
            raise self.likely_cause() or ConfigurationError(
                DELIMITER,
                f"the header of {self._found.name} cannot be read: {error}",
                "Correct the delimiter or the file.",
            ) from None
        if not self._delimiter.join(names).strip("\0") and any(names):
            raise IncompleteExtractError(
                f"{self._found.name} begins with empty bytes: its writer reserved their place and did not fill it, as on a full disk."
                " Nothing was sent; let the ERP write it again."
            )
        if any("\0" in name or MARK in name for name in names) and self._encoding.casefold().startswith("utf-8"):
            raise ConfigurationError(
                ENCODING,
                f"the header of {self._found.name} is not {self._encoding}: {self._delimiter.join(names)[:_SHOWN_CHARACTERS]!r}",
                "Name the file's own encoding, such as cp1252 or cp1255.",
            )
        return tuple(names)

    def _open(self) -> io.TextIOWrapper:
        try:
            binary = packed_files.open_unpacked(self._found)
            try:
                head = self._head(binary)
                first_bytes.reject(self._found, head, *self.allowed)
                self._reject_encoding(head)
                return io.TextIOWrapper(binary, encoding=self._encoding, errors=ESCAPING, newline="")
            except BaseException:
                binary.close()
                raise
        except LookupError:  # a codec of Python that gives no text, such as hex
            raise self._no_encoding(None) from None
        except OSError as error:
            raise IncompleteExtractError(
                f"{self._found.name} cannot be opened: {error.strerror or error}. Run it again."
            ) from None

    def _reject_encoding(self, head: bytes) -> None:
        try:
            right = text_encoding.advice(head, self._encoding)
        except (LookupError, ValueError):
            raise self._no_encoding(text_encoding.of(head)) from None
        if right is not None:
            raise ConfigurationError(
                ENCODING,
                f"is {self._encoding}, and {self._found.name} is not, by its first bytes",
                f"Set it to {right}.",
            )

    def _no_encoding(self, right: str | None) -> ConfigurationError:
        remedy = f"Set it to {right}." if right else "Write one that Python knows, such as utf-8-sig, utf-16 or cp1255."
        return ConfigurationError(ENCODING, f"{self._encoding!r} is no encoding", remedy)

    def _head(self, binary: io.BufferedReader) -> bytes:
        try:
            return binary.peek(packed_files.HEAD_BYTES)
        except packed_files.CUT as error:
            raise self._broken_off("before its header", error) from None


@dataclass
class _Part:
    """Columns of a block of rows; or rows that have the header's width, and texts of those that have not, or that a quote joined.

    `suspects` are the intact rows of several lines: the place, the first line, the text. `no_rows` are lines that a program wrote beside the rows,
    such as a total. `line` is where the last record begins.
    """

    columns: Sequence[pa.ChunkedArray | list[Any]] = ()
    intact: list[list[str]] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    damaged_vendors: dict[int, str] = field(default_factory=dict)
    joined: list[str] = field(default_factory=list)
    no_rows: list[str] = field(default_factory=list)
    line: int = 0
    ends_in_total: bool = False
    suspects: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)

    @property
    def taken(self) -> int:
        """The number of its rows, and of the lines that are none, but for `columns`."""
        return len(self.intact) + len(self.damaged) + len(self.no_rows)

    def add_damages(self, damages: Sequence[str], vendor: str | None) -> None:
        """Texts of damaged rows. `vendor`: theirs, if it is known."""
        if vendor is not None:
            self.damaged_vendors |= dict.fromkeys(range(len(self.damaged), len(self.damaged) + len(damages)), vendor)
        self.damaged += damages

    def ordinary(self) -> list[list[str]]:
        """Some rows of one line each."""
        several = {place for place, _, _ in self.suspects}
        rows = (row for place, row in enumerate(self.intact) if place not in several)
        return list(itertools.islice(rows, SAMPLE_ROWS))


class _Lines:
    """The lines of a text, with an eye on whether the last one ends; none longer than memory allows."""

    def __init__(self, file: io.TextIOWrapper, name: str, *, skipped: int = 0) -> None:
        self._file = file
        self._name = name
        self._text = io.StringIO()
        """Read ahead: whole lines, but at the end of the file."""
        self._left = 0
        """How many characters of them are not taken."""
        self._rest = ""
        """What follows them in the file, up to where it was read."""
        self._is_offered = False
        self.number = 0
        self.last = ""
        self.record: list[str] = []
        """The lines since it was cleared."""
        self.terminated = True
        self.ended = False
        for _ in range(skipped):
            next(self, None)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.is_at_end()
        line = self._text.readline(_LINE_CHARACTERS_MAX)
        if not line:
            self.ended = True
            raise StopIteration
        self._left -= len(line)
        self.number += 1
        self.last = line
        self.record.append(line)
        self.terminated = line.endswith(("\n", "\r"))
        if not self.terminated:
            if len(line) == _LINE_CHARACTERS_MAX:
                raise DataError(
                    f"Line {self.number} of {self._name} is longer than {_LINE_CHARACTERS_MAX} characters: that is no CSV. "
                    f"Look at the file, and at {ENCODING}."
                )
            self.ended = True
        return line

    def is_at_end(self) -> bool:
        """Whether there is no further line; reads on if need be."""
        if not self._left:
            text = self._rest + self._file.read(_AHEAD_CHARACTERS if self.number else _FIRST_CHARACTERS)
            text = "" if text == _DOS_END else text if self.number else text.lstrip("\ufeff")  # a quote may follow it
            end = text.rfind("\n") + 1 or text.rfind("\r", 0, -1) + 1 or len(text)
            self._text, self._left, self._rest = io.StringIO(text[:end], newline=""), end, text[end:]
            self._is_offered = False
        return not self._left

    def pass_empty(self) -> bool:
        """Passes over empty lines; whether a further line follows them."""
        while not self.is_at_end():
            place = self._text.tell()
            if self._text.read(1) not in "\r\n":
                self._text.seek(place)
                return True
            self._text.seek(place)
            next(self)
        return False

    def ahead(self) -> str:
        """The whole lines that come next, as one text; empty if they were offered before, and were not passed over."""
        if self._is_offered or self.is_at_end():
            return ""
        self._is_offered = True
        place = self._text.tell()
        text = self._text.read()
        self._text.seek(place)
        return text if text.endswith("\n") else ""

    def pass_over(self, text: str) -> None:
        """Takes all that `ahead` gave."""
        self.number += text.count("\n")
        self.terminated = True
        self._left = 0


_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def _rows(columns: Iterable[pa.ChunkedArray]) -> list[list[str]]:
    """Columns as rows of a CSV, which has no null."""
    return [list(row) for row in zip(*(column.fill_null("").to_pylist() for column in columns), strict=True)]


def _damage(line: int, lines: int, problem: str, text: str) -> str:
    where = f"line {line}" if lines <= 1 else f"lines {line}-{line + lines - 1}"
    return f"{where}: {problem}: {text.rstrip()[:_SHOWN_CHARACTERS]}"
