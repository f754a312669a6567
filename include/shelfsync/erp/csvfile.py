"""One CSV file, row by row, so that one bad row costs that row alone and a file that was cut is detected.

An empty field is null: CSV has no other sign for a missing value. A row whose fields cannot be separated (too many, too few, a quote in the
wrong place) is passed on as damaged. Bytes that do not decode are escaped in place (see text.py).
"""

from __future__ import annotations

import csv
import io
import lzma
import zlib
from typing import TYPE_CHECKING, Any

from shelfsync.erp import first_bytes
from shelfsync.erp.columns import Chunk
from shelfsync.erp.text import ESCAPING, MARK
from shelfsync.errors import ConfigurationError, DataError, EmptyFileError, IncompleteExtractError, without_stop

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from shelfsync.erp.address import FoundFile

DELIMITER = "SHELFSYNC_ERP__CSV_DELIMITER"
ENCODING = "SHELFSYNC_ERP__CSV_ENCODING"
_LINE_CHARACTERS_MAX = 1024 * 1024
_SHOWN_CHARACTERS = 160
_CUT = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""What reading a packed file that is not whole raises."""
_DOS_END = "\x1a"
"""Programs of old end a file with it."""


class CsvFile:
    """One file; after the last chunk, `unterminated` and `damaged` report possible losses."""

    def __init__(self, found: FoundFile, delimiter: str, encoding: str, header_row: int = 1) -> None:
        self._found = found
        self._delimiter = _DELIMITERS.get(delimiter, delimiter)
        self._encoding = encoding
        self._header_row = header_row
        self.damaged = 0
        """How many rows have fields that could not be separated."""
        self.unterminated = False
        """The last row has all its fields but no line break behind it: it may have been cut inside its last field."""
        if len(self._delimiter) != 1 or self._delimiter in '"\r\n':
            raise ConfigurationError(DELIMITER, f"{delimiter!r} is no delimiter", "Give one character, or `tab`.")

    def names(self) -> tuple[str, ...]:
        """The header. Raises IncompleteExtractError if the file was cut inside it or is empty."""
        with self._open() as file:
            try:
                lines = _Lines(file, self._found.name, skipped=self._header_row - 1)
                return self._header(csv.reader(lines, delimiter=self._delimiter, strict=True))
            except _CUT as error:
                raise self._broken_off("before its header", error) from None

    def chunks(self, rows: int) -> Generator[Chunk]:
        """The rows below the header, up to `rows` at a time. Raises IncompleteExtractError if the file was cut or is empty."""
        total = 0
        with self._open() as file:
            lines = _Lines(file, self._found.name, skipped=self._header_row - 1)
            reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
            try:
                names = self._header(reader)
                for intact, damaged in self._parts(reader, lines, len(names), rows):
                    if not total and not intact and len(damaged) > 1:
                        raise DataError(
                            f"Not one of the first {len(damaged)} rows of {self._found.name} has the fields of its header: {damaged[0]}. "
                            f"Nothing was sent; correct {DELIMITER} or the file."
                        )
                    columns = [[value or None for value in column] for column in zip(*intact, strict=True)]
                    count = len(intact) + len(damaged)
                    total += count
                    intact.clear()
                    yield Chunk(
                        names,
                        columns or [[] for _ in names],
                        count,
                        self._found.name,
                        self._found.vendor,
                        tuple(damaged),
                    )
            except _CUT as error:
                raise self._broken_off(f"after {total} rows", error) from None
        if not total:
            raise EmptyFileError(
                f"{self._found.name} has a header and no row. An empty file is taken for a broken one: nothing was sent."
            )

    def _parts(self, reader: Any, lines: _Lines, width: int, rows: int) -> Iterator[tuple[list[list[str]], list[str]]]:
        """Rows that have the header's width, and texts of those that have not."""
        intact: list[list[str]] = []
        damaged: list[str] = []
        while True:
            line = lines.number + 1
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                self._raise_if_cut(lines, line, str(error))
                damaged.append(_damage(line, str(error), lines.last))
            else:
                if len(row) == width:
                    intact.append(row)
                elif row:  # an empty line is no row
                    problem = f"{len(row)} fields instead of {width}"
                    self._raise_if_cut(lines, line, problem)
                    damaged.append(_damage(line, problem, self._delimiter.join(row)))
            if len(intact) + len(damaged) >= rows:
                self.damaged += len(damaged)
                yield intact, damaged
                intact, damaged = [], []
        self.damaged += len(damaged)
        self.unterminated = not lines.terminated and not lines.last.endswith('"')
        if intact or damaged:
            yield intact, damaged

    def _raise_if_cut(self, lines: _Lines, line: int, problem: str) -> None:
        """A row that is not whole and has no line break behind it is where the file was cut."""
        if (lines.ended and not lines.terminated) or "unexpected end" in problem:
            raise IncompleteExtractError(
                f"{self._found.name} was cut in the middle of the row that begins in line {line} ({problem}). "
                "Nothing was sent; let the ERP write it again."
            )

    def _broken_off(self, where: str, error: Exception) -> IncompleteExtractError:
        return IncompleteExtractError(
            f"{self._found.name} broke off {where}: {without_stop(error)}. Nothing was sent; let the ERP write it again."
        )

    def _header(self, reader: Any) -> tuple[str, ...]:
        try:
            names = next(reader)
        except StopIteration:
            raise IncompleteExtractError(
                f"{self._found.name} is empty. An empty file is taken for a broken one: nothing was sent."
            ) from None
        except csv.Error as error:
            raise ConfigurationError(
                DELIMITER,
                f"the header of {self._found.name} cannot be read: {error}",
                "Correct the delimiter or the file.",
            ) from None
        if any("\0" in name or MARK in name for name in names) and self._encoding.casefold().startswith("utf-8"):
            raise ConfigurationError(
                ENCODING,
                f"the header of {self._found.name} is not {self._encoding}: {self._delimiter.join(names)[:_SHOWN_CHARACTERS]!r}",
                "Name the file's own encoding, such as utf-16, cp1252 or cp1255.",
            )
        return tuple(name.lstrip("\ufeff") for name in names)

    def _open(self) -> io.TextIOWrapper:
        try:
            binary = first_bytes.open_unpacked(self._found)
            try:
                first_bytes.reject(self._found, self._head(binary))
                return io.TextIOWrapper(binary, encoding=self._encoding, errors=ESCAPING, newline="")
            except BaseException:
                binary.close()
                raise
        except LookupError:
            raise ConfigurationError(
                ENCODING,
                f"{self._encoding!r} is no encoding",
                "Write one that Python knows, such as utf-8, utf-16 or cp1255.",
            ) from None
        except OSError as error:
            raise IncompleteExtractError(
                f"{self._found.name} cannot be opened: {error.strerror or error}. Run it again."
            ) from None

    def _head(self, binary: io.BufferedReader) -> bytes:
        try:
            return binary.peek(first_bytes.HEAD_BYTES)
        except _CUT as error:
            raise self._broken_off("before its header", error) from None


class _Lines:
    """The lines of a text, with an eye on whether the last one ends; none longer than memory allows."""

    def __init__(self, file: io.TextIOWrapper, name: str, *, skipped: int = 0) -> None:
        self._file = file
        self._name = name
        self.number = 0
        self.last = ""
        self.terminated = True
        self.ended = False
        for _ in range(skipped):
            next(self, None)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._file.readline(_LINE_CHARACTERS_MAX)
        if line in {"", _DOS_END}:
            self.ended = True
            raise StopIteration
        self.number += 1
        self.last = line
        self.terminated = line.endswith(("\n", "\r"))
        if not self.terminated:
            if len(line) == _LINE_CHARACTERS_MAX:
                raise DataError(
                    f"Line {self.number} of {self._name} is longer than {_LINE_CHARACTERS_MAX} characters: that is no CSV. "
                    f"Look at the file, and at {ENCODING}."
                )
            self.ended = True
        return line


_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}


def _damage(line: int, problem: str, row: str) -> str:
    return f"line {line}: {problem}: {row.rstrip()[:_SHOWN_CHARACTERS]}"
