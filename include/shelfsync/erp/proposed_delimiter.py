"""What the beginning of a text file looks like: its delimiter, quoting, and the line with the names of its columns.

A reading never uses it to guess. `sniff` proposes settings with it, and a reading that failed names its likely cause with it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shelfsync.erp.column_kinds import is_number, kinds_among
from shelfsync.erp.no_row import folded, names_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DELIMITERS = (",", ";", "\t", "|", "^", "~", "¬", "§", "\x1f", "\x01")
"""What shelfsync looks for as a delimiter, in this order where two fit alike."""
SHOWN = {"\t": "tab", "|": "pipe"}
"""A delimiter by its word in the setting."""

_LINES = 300
_HEADER_LINES = 30
_SEP = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


@dataclass(frozen=True)
class Shape:
    """The lines of a text as a table.

    `header` is the number of the line with the names, None if no line looks like one. `rows` are the rows below it, each with the number of its first line.
    """

    delimiter: str
    quoted: bool
    width: int
    header: int | None
    names: tuple[str, ...]
    rows: Sequence[tuple[int, list[str]]]
    share: float
    """The share of the rows that have the width."""
    sep_line: int | None = None
    """The line `sep=;`, which only Excel understands."""
    rivals: tuple[str, ...] = field(default=())
    """Other delimiters that split the lines as evenly."""

    @property
    def trailing(self) -> bool:
        """Whether the line with the names ends with a delimiter, and the rows do not."""
        return self.names[-1:] == ("",) and self.width == len(self.names) - 1

    @property
    def again(self) -> int | None:
        """The line in which the names stand a second time."""
        names = folded(self.names)
        return next((number for number, row in self.rows if names and names_again(row, names)), None)


@dataclass(frozen=True)
class _Try:
    delimiter: str
    quoted: bool
    rows: Sequence[tuple[int, list[str]]]
    width: int
    share: float
    known: int
    """How many columns that shelfsync knows the best line names."""

    @property
    def rank(self) -> tuple[float, ...]:
        return (
            round(self.share, 1),
            self.known,
            self.share,
            self.width,
            self.quoted,
            -DELIMITERS.index(self.delimiter),
        )


def shape_of(text: str, *, whole: bool) -> Shape | None:
    """The table in a text; None if no delimiter splits its lines evenly. `whole`: the text does not end inside a line."""
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    if not whole and len(lines) > 1:
        lines.pop()
    lines = [line.replace("\0", "") for line in lines[:_LINES]]
    sep_line = next((place for place, line in enumerate(lines[:3], 1) if _SEP.fullmatch(line.strip("\r\n"))), None)
    table = lines if sep_line is None else ["\n" if place == sep_line else line for place, line in enumerate(lines, 1)]
    tries = [found for mark in DELIMITERS for quoted in (True, False) if (found := _try(table, mark, quoted=quoted))]
    if not tries:
        return None
    best = max(tries, key=lambda one: one.rank)
    if not best.quoted and any(
        one.quoted and one.delimiter == best.delimiter and one.share >= best.share for one in tries
    ):
        best = next(one for one in tries if one.quoted and one.delimiter == best.delimiter)
    rivals = {
        one.delimiter: None
        for one in tries
        if one.delimiter != best.delimiter
        and one.share >= best.share
        and one.known >= best.known
        and one.quoted == best.quoted
    }
    header = _header(best)
    below = [row for row in best.rows if header is None or row[0] > header[0]]
    number, names = header if header is not None else (None, ())
    return Shape(
        best.delimiter, best.quoted, best.width, number, tuple(names), below, best.share, sep_line, tuple(rivals)
    )


def _try(lines: Sequence[str], delimiter: str, *, quoted: bool) -> _Try | None:
    if not any(delimiter in line for line in lines):
        return None
    if not quoted and not any('"' in line for line in lines):
        return None
    rows = [(number, row) for number, row in _parsed(lines, delimiter, quoted=quoted) if row]
    widths = Counter(len(row) for _, row in rows if len(row) > 1)
    if not widths:
        return None
    width, count = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
    swallowed = len([line for line in lines if line.strip()]) - len(rows) if quoted else 0
    known = max(kinds_among(row) for _, row in rows[:_HEADER_LINES])
    return _Try(delimiter, quoted, rows, width, count / (len(rows) + max(swallowed, 0)), known)


def _parsed(lines: Sequence[str], delimiter: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    while True:
        first = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        yield first, row


def _header(found: _Try) -> tuple[int, list[str]] | None:
    """The line with the names: the first with most names that shelfsync knows, or the first of the width that holds words alone."""
    first = found.rows[:_HEADER_LINES]
    known = {number: kinds_among(row) for number, row in first}
    most = max(known.values(), default=0)
    if most > 1 or (most and found.width <= 2):
        return next((number, row) for number, row in first if known[number] == most)
    for number, row in first:
        if len(row) == found.width:
            words = all(cell.strip() and not is_number(cell) for cell in row) and len(set(row)) == len(row)
            return (number, row) if words else None
    return None
