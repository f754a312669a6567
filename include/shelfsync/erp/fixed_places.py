"""Where the columns of a text without delimiters stand, by the characters that are blank in every line. For proposals only."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.erp.column_kinds import is_name, is_number
from shelfsync.erp.text_shape import totals_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINES = 2000
_LINES_MIN = 3
_HEADER_LINES = 30
_COLUMNS_MIN = 3


@dataclass(frozen=True)
class Places:
    """`places`: first character from 0 and end of each column. `header`, `total`: numbers of lines from 1, None if there is no such line."""

    names: tuple[str, ...]
    places: Sequence[tuple[int, int]]
    rows: Sequence[tuple[str, ...]]
    header: int | None
    total: int | None


def of(text: str, *, whole: bool) -> Places | None:
    """The places of the columns; None if no character between them is blank in every line. `whole`: the text ends with its last line."""
    lines = [(number, line.rstrip()) for number, line in enumerate(text.lstrip("\ufeff").split("\n")[:_LINES], 1)]
    if not whole:
        del lines[-1:]
    lines = [(number, line) for number, line in lines if line.strip("\x1a ")]
    header = next((number for number, line in lines[:_HEADER_LINES] if sum(map(is_name, line.split())) > 1), None)
    rows = [(number, line) for number, line in lines if header is None or number > header]
    total = rows.pop()[0] if rows and totals_line([rows[-1][1].split()[0], ""]) else None
    if len(rows) < _LINES_MIN or any("\t" in line for _, line in rows):
        return None
    texts = [line for _, line in rows]
    filled = _columns(texts, texts)
    if sum(_is_usual(run, texts) for run in filled) < _COLUMNS_MIN:  # sentences have a blank in common by chance
        return None
    titles = dict(lines).get(header or 0, "")
    with_titles = _columns([titles, *texts], texts)
    places = _with_padding(with_titles if len(with_titles) == len(filled) else filled, texts)
    cells = [tuple(line[start:end].strip() for start, end in places) for _, line in rows]
    words = titles.split()  # one for each column: then each is its column's, though it may stand beside it
    names = words if len(words) == len(places) else [" ".join(titles[start:end].split()) for start, end in places]
    known = len(set(names)) == len(names) and all(names)
    return Places(
        tuple(names if known else (f"column {place}" for place in range(1, len(places) + 1))),
        places,
        cells,
        header,
        total,
    )


def _columns(lines: Sequence[str], rows: Sequence[str]) -> list[tuple[int, int]]:
    """The runs of characters that any line has; the second word of a few rows is no column."""
    runs = _filled(lines)
    joined = runs[:1]
    for run in runs[1:]:
        is_word = run[0] == joined[-1][1] + 1 and not _is_usual(run, rows)
        joined[-1:] = [(joined[-1][0], run[1])] if is_word else [joined[-1], run]
    return joined


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
