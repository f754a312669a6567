"""A text whose columns stand at fixed characters of each line, row by row, with the proofs of a CSV. Spaces around a value are padding.

A line that ends before its last column begins is quarantined, unless the program leaves out blanks at the end of each line; a sum and a drawn
line are no rows. By its first lines a file shows how long its lines are, and where values end: a line that was padded in bytes, whose value
goes on behind its place, or whose columns have moved would be read as other numbers.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from shelfsync.erp.csvfile import CsvFile, WrongValueError
from shelfsync.erp.no_row import is_rule, is_total_line, totals_line
from shelfsync.erp.number_notation import NUMBERS
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout

FIXED_WIDTH = "SHELFSYNC_ERP__FIXED_WIDTH"
_LINES_FOR_WIDTH = 1000
_LINES_FOR_WIDTH_MIN = 5
_FIRST_CHARACTERS_MAX = 10_000
"""Of one of these lines; what is longer is no line of such a list, and is not read as a whole for this."""
_USUAL = 0.8
"""The share of the first lines that makes something usual."""
_ODD = 0.01
"""The share of the first lines with a digit between two columns up to which it is no column of its own."""
_BEFORE = "\ufeff\f"
"""The mark of an encoding and the feed of a page, which take no place in a line."""
_APART = re.compile(r"\d\s+\d")
"""Two numbers in the place of one."""
_APART_GROUPED = re.compile(r"\d\s{2,}\d")
"""The same where a blank groups thousands."""
_EDGES = ((True, False), (False, True))
"""Where a value begins, and where it ends: whether the character before is blank, and the one at it."""
_DECIMALS = re.compile(r"\d[.,](\d*)$")
_PLACE = re.compile(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?")


class FixedWidth(CsvFile):
    """One file. `places`: column -> its first and last character, from 1. The rows begin below the line `header_row`, if there is one."""

    is_delimited = False

    def __init__(
        self, found: FoundFile, layout: Layout, places: Mapping[str, str], encoding: str, header_row: int | None
    ) -> None:
        super().__init__(found, layout, "\t", encoding, (header_row or 0) + 1, quoted=False)
        if not places:
            raise ConfigurationError(FIXED_WIDTH, "it is not set", 'Name the columns: {"sku": "1-8", "price": "9-16"}.')
        self._columns = {name: _place(name, text) for name, text in places.items()}

    def likely_cause(self) -> None:
        """The settings name the columns, so the beginning of the file shows no other cause."""

    def _none_read(self, rows: int, first: str) -> ConfigurationError:
        return ConfigurationError(
            FIXED_WIDTH,
            f"not one of the {rows} rows of {self._found.name} fits it: {first}",
            f"Correct its places or the file. `shelfsync sniff {self._found.readable}` proposes them.",
        )

    def _header(self, reader: Any) -> tuple[str, ...]:  # noqa: ARG002  the settings have the names
        return tuple(self._columns)

    def _reader(self, lines: Iterator[str]) -> Any:
        with self._open() as file:
            begin = iter(partial(file.readline, _FIRST_CHARACTERS_MAX), "")
            first = [
                line.rstrip("\r\n").lstrip(_BEFORE)
                for line in islice(begin, self._header_row - 1, self._header_row + _LINES_FOR_WIDTH)
            ]
        names = tuple(self._columns)
        sources = self._layout.sources(names, self._found.name, vendor=self._found.vendor)
        numbers = [self._columns[theirs] for ours, theirs in sources.items() if ours in NUMBERS]
        keys = [self._columns[theirs] for ours, theirs in sources.items() if ours not in {"name", "category"}]
        apart = _APART_GROUPED if self._layout.notation.thousands_mark == "space" else _APART
        return _Slices(
            lines,
            tuple(self._columns.values()),
            numbers,
            max((start for start, _ in keys), default=0),
            apart,
            [line for line in first if line.strip()],
            self._encoding,
        )

    def _is_whole(self, last: str) -> bool:
        return len(last) >= max(end for _, end in self._columns.values())


class _Slices:
    """The rows of the lines. `first`: the first of them, which show what is usual. `last_start`: where the last column begins that is no text for people."""

    def __init__(
        self,
        lines: Iterator[str],
        places: Sequence[tuple[int, int]],
        numbers: Sequence[tuple[int, int]],
        last_start: int,
        apart: re.Pattern[str],
        first: Sequence[str],
        encoding: str,
    ) -> None:
        self._lines = lines
        self._apart = apart
        self._slices = [slice(*place) for place in places]
        self._least = max(start for start, _ in places) + 1
        self._encoding = encoding.casefold().replace("-sig", "").replace("_sig", "")  # the mark stands once in a file
        self._bytes = self._usual_bytes(first)
        taken = {place for start, end in places for place in range(start, end)}
        self._ends = [end for _, end in places if end not in taken and _is_rare(_goes_on(line, end) for line in first)]
        between = [end for end in self._ends if end + 1 in taken]
        self._gaps = [
            place for place in between if _is_rare((line[place : place + 1].isdigit() for line in first), _ODD)
        ]
        self._decimals = {place: _usual_decimals(line[slice(*place)] for line in first) for place in numbers}
        most = max(1, (1 - _USUAL) * len(first))
        self._numbers = [place for place in numbers if sum(self._goes_apart(line, *place) for line in first) <= most]
        self._tabs = _is_rare(self._has_tab(line) for line in first)
        self._end = max(end for _, end in places)
        self._length = self._usual_length(first)
        self._is_padded = not _is_rare(line.endswith(" ") for line in first)
        self._ends_in_digits = any(end == self._length for _, end in numbers) and _is_rare(
            not line[-1].isdigit() for line in first
        )
        self._starts = sorted(start for start, _ in places)
        self._trimmed_edges = self._edges_of_trimmed(first)
        self._edges = [
            (place, pair)
            for place in range(max(last_start, 1), (self._length or 0) + 1)
            for pair in _EDGES
            if _is_rare((_blanks(line, place) != pair for line in first), _ODD)
        ]

    def __iter__(self) -> _Slices:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines).rstrip("\r\n").lstrip(_BEFORE)
        if not line.strip():
            return []
        cells = [line[part].strip() for part in self._slices]
        is_short = len(line) < self._least
        if (is_short and is_rule([line])) or ((is_short or not totals_line([cells[0], ""])) and is_total_line(line)):
            return [
                " ".join(line.split())
            ]  # one cell: what a program wrote beside the rows, over the places of columns
        if is_short and not self._lacks_blanks_alone(line):
            raise csv.Error(f"{len(line)} characters, and the last column begins at {self._least}")
        self._check(line)
        return cells

    def _usual_bytes(self, first: Sequence[str]) -> int | None:
        """How many bytes nearly each line has, if fewer lines have one number of characters: then a program padded them in bytes.

        Where the same letter stands in each line, both are the same everywhere, and tell nothing.
        """
        if not first:
            return None
        length, count = Counter(self._bytes_of(line) for line in first).most_common(1)[0]
        characters = Counter(map(len, first)).most_common(1)[0][1]
        return length if count >= _USUAL * len(first) and count > characters else None

    def _usual_length(self, first: Sequence[str]) -> int | None:
        """How many characters each line has that shows all columns: a program fills it up."""
        length = Counter(map(len, first)).most_common(1)[0][0] if first else 0
        return length if length >= self._end and _is_rare((_differs(line, length) for line in first), _ODD) else None

    def _edges_of_trimmed(self, first: Sequence[str]) -> list[tuple[int, tuple[bool, bool]]]:
        """Where values begin and end in nearly each line that has all columns, if the program leaves out the blanks at the end of each line."""
        whole = [line for line in first if len(line) >= self._least]
        if (
            len(whole) < _LINES_FOR_WIDTH_MIN
            or len(set(map(len, first))) == 1
            or any(line[-1] == " " for line in first)
        ):
            return []
        return [
            (place, pair)
            for place in range(1, self._least)
            for pair in _EDGES
            if _is_rare((_blanks(line, place) != pair for line in whole), _ODD)
        ]

    def _lacks_blanks_alone(self, line: str) -> bool:
        """Whether a short line lacks no more than blank columns at its end: all that it has, up to its last value, stands as in whole lines."""
        edges = [(place, pair) for place, pair in self._trimmed_edges if place <= len(line)]
        last = max((start for start in self._starts if start < len(line)), default=0)
        stands = all(_blanks(line, place) == pair for place, pair in edges)
        return stands and any(place >= max(last, 1) for place, _ in edges)

    def _has_moved(self, line: str) -> bool:
        """Whether the line is longer than the others, or shorter than they although no last value is missing, nor blanks behind it."""
        if self._length is None:
            return False
        if len(line) < self._length:
            return self._ends_in_digits or (self._is_padded and line.endswith(" "))
        if line[self._length :].strip():
            return True
        # more blanks at its end move nothing, where the last columns stand as in the other lines
        stands = self._edges and all(_blanks(line, place) == pair for place, pair in self._edges)
        return len(line) > self._length and not stands

    def _bytes_of(self, line: str) -> int:
        return len(line) if line.isascii() else len(line.encode(self._encoding, "replace"))

    def _has_tab(self, line: str) -> bool:
        """Before the last column: behind it, or within it, a tab moves nothing."""
        return "\t" in line[: self._least - 1]

    def _goes_apart(self, line: str, start: int, end: int) -> bool:
        """Whether two numbers stand in the place of one, or its decimals, or some of them, behind it."""
        if self._apart.search(line, start, end):
            return True
        if not line[end : end + 1].isdigit() or (found := _DECIMALS.search(line, start, end)) is None:
            return False
        return len(found[1]) < max(1, self._decimals[start, end])

    def _check(self, line: str) -> None:
        """Raises csv.Error if a value of this line stands at other places than those of the other lines."""
        if not line.isascii() and len(line) < (self._bytes or 0) == self._bytes_of(line):
            raise csv.Error(
                f"{self._bytes} bytes as the other lines, and {len(line)} characters: its columns are padded in bytes; let the ERP pad in characters"
            )
        if self._tabs and self._has_tab(line):
            raise WrongValueError("a tab stands in it, which moves what follows; let the ERP write blanks")
        for place in self._gaps:
            if line[place : place + 1].isdigit():
                raise WrongValueError(
                    f"character {place + 1} is no digit in the other lines, so the columns of this one have moved; if a column is there, name it"
                    f" in {FIXED_WIDTH}"
                )
        for start, end in self._numbers:
            if self._goes_apart(line, start, end):
                raise WrongValueError(
                    f"a number does not end where its column does ({line[start:end].strip()!r} at {start + 1}-{end}), so the columns of this line"
                    " have moved"
                )
        for end in self._ends:
            if _goes_on(line, end):
                raise csv.Error(
                    f"the value goes on behind character {end}; if another column begins there, name it in {FIXED_WIDTH}"
                )
        if self._has_moved(line):
            raise csv.Error(
                f"{len(line)} characters, and each other line has {self._length}: its columns may have moved; let the ERP fill up each line"
            )


def _goes_on(line: str, end: int) -> bool:
    """Whether a number, or a word, does not end where its column does. A letter behind a figure is another column, without a gap."""
    if len(line) <= end:
        return False
    last, behind = line[end - 1], line[end]
    return (last.isdigit() and (behind.isdigit() or behind in ".,-")) or (last.isalpha() and behind.isalpha())


def _usual_decimals(cells: Iterable[str]) -> int:
    """How many decimals nearly each of these numbers has; 0 if they differ."""
    counts = Counter(len(found[1]) for cell in cells if (found := _DECIMALS.search(cell.rstrip())))
    decimals, count = counts.most_common(1)[0] if counts else (0, 0)
    return decimals if counts.total() >= _LINES_FOR_WIDTH_MIN and counts.total() - count <= max(1, _ODD * count) else 0


def _differs(line: str, length: int) -> bool:
    """Whether a line has another length, but for blanks at its end."""
    return len(line) < length or bool(line[length:].strip())


def _blanks(line: str, place: int) -> tuple[bool, bool]:
    """Whether the character before this place, and the one at it, are blank."""
    return not line[place - 1 : place].strip(), not line[place : place + 1].strip()


def _is_rare(found: Iterable[object], share: float = 1 - _USUAL) -> bool:
    each = [bool(one) for one in found]
    return len(each) >= _LINES_FOR_WIDTH_MIN and sum(each) <= max(1, share * len(each))


def _place(name: str, text: str) -> tuple[int, int]:
    found = _PLACE.fullmatch(text)
    start, end = (int(found[1]), int(found[2] or found[1])) if found is not None else (0, 0)
    if not 1 <= start <= end:
        raise ConfigurationError(
            FIXED_WIDTH,
            f"{text!r} of {name!r} is no place",
            "Write the first and the last character, from 1, such as 9-16.",
        )
    return start - 1, end
