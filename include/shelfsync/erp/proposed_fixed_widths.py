"""Where the columns of a text without delimiters stand, by the characters that are blank in every line. For proposals only."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.erp.column_kinds import is_number, kinds_among
from shelfsync.erp.no_row import is_rule, is_total_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINES = 2000
_LINES_MIN = 3
_HEADER_LINES = 30
_COLUMNS_MIN = 3


@dataclass(frozen=True)
class Places:
    """`places`: first character from 0 and end of each column. The others are numbers of lines from 1; `header` is None if there is no such line.

    `rules`, `again` and `totals` are lines below the header that a program wrote beside the rows: drawn lines, the names again, sums.
    """

    names: tuple[str, ...]
    places: Sequence[tuple[int, int]]
    rows: Sequence[tuple[str, ...]]
    header: int | None
    rules: Sequence[int]
    again: Sequence[int]
    totals: Sequence[int]


def of(text: str, *, whole: bool) -> Places | None:
    """The places of the columns; None if no character between them is blank in every line. `whole`: the text ends with its last line."""
    lines = [(number, line.rstrip()) for number, line in enumerate(text.lstrip("\ufeff").split("\n")[:_LINES], 1)]
    if not whole:
        del lines[-1:]
    lines = [(number, line) for number, line in lines if line.strip("\x1a ")]
    header = _header(lines[:_HEADER_LINES])
    titles = dict(lines).get(header or 0, "")
    below = [(number, line) for number, line in lines if header is None or number > header]
    rules = [number for number, line in below if is_rule([line])]
    again = [number for number, line in below if line.casefold() == titles.casefold()]
    totals = [number for number, line in below if is_total_line(line)]
    beside = {*rules, *again, *totals}
    rows = [(number, line) for number, line in below if number not in beside]
    if len(rows) < _LINES_MIN or any("\t" in line for _, line in rows):
        return None
    texts = [line for _, line in rows]
    filled = _columns(texts, texts)
    if sum(_is_usual(run, texts) for run in filled) < _COLUMNS_MIN:  # sentences have a blank in common by chance
        return None
    filled = _under_one_name(filled, titles, texts)
    with_titles = _columns([titles, *texts], texts)
    is_same = len(with_titles) == len(filled) and all(
        wide[0] <= run[0] and run[1] <= wide[1] for wide, run in zip(with_titles, filled, strict=True)
    )
    places = _with_padding(with_titles if is_same else filled, texts)
    cells = [tuple(line[start:end].strip() for start, end in places) for _, line in rows]
    words = titles.split()  # one for each column: then each is its column's, though it may stand beside it
    names = words if len(words) == len(places) else _names(titles, filled)
    known = len(set(names)) == len(names) and all(names)
    return Places(
        tuple(names if known else (f"column {place}" for place in range(1, len(places) + 1))),
        places,
        cells,
        header,
        rules,
        again,
        totals,
    )


def _header(lines: Sequence[tuple[int, str]]) -> int | None:
    """The number of the line with the names: the first that names most of the columns which shelfsync knows, and more than one."""
    known = {number: kinds_among(line.split()) for number, line in lines}
    most = max(known.values(), default=0)
    return next(number for number in known if known[number] == most) if most > 1 else None


def _columns(lines: Sequence[str], rows: Sequence[str]) -> list[tuple[int, int]]:
    """The runs of characters that any line has; the second word of a few rows is no column."""
    runs = _filled(lines)
    joined = runs[:1]
    for run in runs[1:]:
        is_word = run[0] == joined[-1][1] + 1 and not _is_usual(run, rows)
        joined[-1:] = [(joined[-1][0], run[1])] if is_word else [joined[-1], run]
    return joined


def _under_one_name(runs: Sequence[tuple[int, int]], titles: str, rows: Sequence[str]) -> list[tuple[int, int]]:
    """With the words of a text as one column: a first word of one length, as `Bio`, leaves a blank in every line.

    The next run is the same column if one blank divides the two and no name begins above it.
    """
    names = [found.span() for found in re.finditer(r"\S+", titles)]
    overlap = [name[0] < run[1] and run[0] < name[1] for name, run in zip(names, runs, strict=False)]
    if not names or (len(names) == len(runs) and all(overlap)):
        return list(runs)
    joined = list(runs[:1])
    for run in runs[1:]:
        before = joined[-1]
        is_named = any(before[1] <= start < run[1] for start, _ in names)
        is_word = run[0] == before[1] + 1 and not is_named and not _has_values(run, rows)
        has_name = any(start < before[1] and before[0] < end for start, end in names)
        joined[-1:] = (
            [(before[0], run[1])] if is_word and has_name and not _has_numbers(before, rows) else [before, run]
        )
    return joined


def _has_numbers(run: tuple[int, int], rows: Sequence[str]) -> bool:
    return all(is_number(cell) for line in rows if (cell := line[slice(*run)].strip()))


def _has_values(run: tuple[int, int], rows: Sequence[str]) -> bool:
    """Whether there are amounts: numbers that have a mark or stand right. A text may end with whole ones, as `Cola 330`."""
    has_mark = any(not cell.isalnum() for line in rows if (cell := line[slice(*run)].strip()))
    return _has_numbers(run, rows) and (has_mark or _stands_right(*run, rows))


def _names(titles: str, runs: Sequence[tuple[int, int]]) -> list[str]:
    """For each column the words above it, or nearer to it than to another."""
    words: list[list[str]] = [[] for _ in runs]
    for found in re.finditer(r"\S+", titles):
        gaps = [max(run[0] - found.end(), found.start() - run[1]) for run in runs]  # below 0, if it stands above
        words[gaps.index(min(gaps))].append(found.group())
    return [" ".join(of_one) for of_one in words]


def _is_usual(run: tuple[int, int], lines: Sequence[str]) -> bool:
    """Whether most lines have anything there."""
    return sum(bool(line[slice(*run)].strip()) for line in lines) * 2 > len(lines)


def _stands_right(start: int, end: int, lines: Sequence[str]) -> bool:
    """Whether a column holds numbers that end at one character and begin at several; a code of one length is taken for a text."""
    cells = [cell for line in lines if (cell := line[start:end]).strip()]
    begins = {len(cell) - len(cell.lstrip()) for cell in cells}
    return len(begins) > 1 and all(is_number(cell.strip()) for cell in cells)


def is_inside_numbers(delimiter: str, text: str) -> bool:
    """Whether a delimiter that splits the lines stands between digits alone: then it is a mark of numbers."""
    mark = re.escape(delimiter)
    return re.search(rf"(?<!\d){mark}|{mark}(?!\d)", text) is None


def _filled(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The characters that any line has, in runs."""
    used = [False] * max(map(len, lines))
    for line in lines:
        for place, letter in enumerate(line):
            if letter != " ":
                used[place] = True
    runs, start = [], 0
    for is_used, run in itertools.groupby(used):
        end = start + len(list(run))
        if is_used:
            runs.append((start, end))
        start = end
    return runs


def _with_padding(filled: Sequence[tuple[int, int]], lines: Sequence[str]) -> list[tuple[int, int]]:
    """With the blanks beside each column: before a number, which stands right; behind a text, which stands left.

    A number gets those between a text and itself: if it loses its first digit, it is a wrong price, and no reading shows it.
    """
    right = [_stands_right(start, end, lines) for start, end in filled]
    places, free = [], 0
    for place, (start, end) in enumerate(filled):
        after = filled[place + 1][0] if place + 1 < len(filled) else end
        number_after = place + 1 < len(filled) and right[place + 1]
        begin = free if right[place] else start
        stop = end if right[place] or number_after else after
        places.append((begin, stop))
        free = stop
    return places
