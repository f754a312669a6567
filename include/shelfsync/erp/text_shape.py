"""What the beginning of a text file looks like: its delimiter, quoting, and the line with the names of its columns.

A reading never uses it to guess. `sniff` proposes settings with it, and a reading that failed names its likely cause with it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.erp.column_kinds import is_currency, is_number, kinds_among
from shelfsync.rows.total_row import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DELIMITERS = (",", ";", "\t", "|", "^", "~", "¬", "§", "\x1f", "\x01")
"""What shelfsync looks for as a delimiter, in this order where two fit alike."""
SHOWN = {"\t": "tab", "|": "pipe"}
"""A delimiter by its word in the setting."""

_LINES = 300
_HEADER_LINES = 30
_SEP = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_TOTALS = re.compile(rf"\W*(?:{WORDS})\b[\s\d.,:;|'€$£-]*", re.IGNORECASE)
_END = re.compile(r"[*=#_-]{2,}[\s*=#_-]*[^\W\d_].*[*=#_-]{2,}")
_CLOSING = re.compile(
    r"\W*(?:eof|end(?:\s+of\s+\w+)?|ende(?:\s+de[rs]\s+\w+)?|fin(?:\s+d[eu]\s+\w+)?|fine|fim|einde|koniec|konec|slut|конец"
    r"|(?:page|seite|p[aá]gina|strona|strana|side|sida)\s*\d+(?:\s*(?:of|von|de|di|sur|z|van|av|/)\s*\d+)?"
    r"|(?:total\W+)?\d+\s+(?:rows?|records?|lines?|zeilen|datensätze|sätze)"
    r"|(?:\w+\s+(?:of\s+)?)?(?:rows?|records?|lines?|zeilen|datensätze|sätze|lignes|filas|righe|wierszy|строк)\s*[:=]\s*\d+)\W*",
    re.IGNORECASE,
)
"""A word that ends a list, the number of a page, a count of the rows; no row has one cell alone."""
_FIGURE = re.compile(r"[\s\d.,:;|'%€$£+-]*")
_RULE = " \t-=+|:"
_COUNTED = re.compile(
    r"\W*\d+\s+(?:rows?|records?|lines?|zeilen?|datensätze|lignes?|filas?|righe|wiersz\w*|строк\w*)\b"
    r"(?:\s+(?:in total|total|affected|selected|exported|read|written|gelesen|ausgewählt|selektiert|exportiert|insgesamt))?\W*",
    re.IGNORECASE,
)


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


HEADER_AGAIN = "the names of the columns again"
TOTAL = "a total or a count of the rows"
RULE = "a drawn line"
END = "a line that ends or parts the list"
"""Why a line is no row of the table, for a person."""


def folded(names: Iterable[Any]) -> list[str]:
    """The names of columns without the case of letters and the blanks around them."""
    return [str(name).strip().casefold() for name in names]


def names_again(cells: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether a row has the names of the columns once more; a program may write them in other letters. `names` are folded."""
    first = cells[0] if cells else None
    return bool(names) and isinstance(first, str) and first.strip().casefold() == names[0] and folded(cells) == names


def totals_line(cells: Sequence[str]) -> bool:
    """Whether a row is a sum of others or a count of them, as a program writes it below a table: a word for it, and a cell without a value.

    Beside the word it has figures alone: a product may be called `Total`, and its row has a text or two more.
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    blank = len(cells) < 2 or len(filled) < len(cells)
    if filled:
        figure, _, currency = filled[0].rpartition(" ")
        filled[0] = figure if is_number(figure.rpartition(" ")[2]) and is_currency(currency) else filled[0]
    if not (
        filled and blank and len(filled[0]) < 80 and (_TOTALS.fullmatch(filled[0]) or _COUNTED.fullmatch(filled[0]))
    ):
        return False
    return all(_FIGURE.fullmatch(cell) or is_number(cell) or _TOTALS.fullmatch(cell) for cell in filled[1:])


def is_total_line(line: str) -> bool:
    """Whether a line without delimiters is a sum or a count: a word for it, blanks and numbers, and perhaps a currency."""
    return totals_line([" ".join(line.split()), ""])


def is_end(cells: Sequence[str], *, is_whole: bool = True) -> bool:
    """Whether a row is a line such as `*** Ende ***`: one cell, with signs on both sides, so that it is not cut; or `EOF`, if the line is whole."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return (
        len(filled) == 1
        and len(filled[0]) < 80
        and bool(_END.fullmatch(filled[0]) or (is_whole and _CLOSING.fullmatch(filled[0])))
    )


def is_rule(cells: Sequence[str]) -> bool:
    """Whether a row is a line that a program draws below the names, such as `-----;---` or `|---|---|`."""
    return not cells[0].strip(_RULE) and not (line := "".join(cells)).strip(_RULE) and ("---" in line or "===" in line)


def may_begin_no_row(first: str, names: Sequence[str]) -> bool:
    """Whether a row with this first cell may have the names again, or be a drawn line. `names` are folded."""
    return not first.strip(_RULE) or first.strip().casefold() == names[0]


def last_is_total(row: Sequence[str], sku: int, vendor: int | None = None) -> bool:
    """Whether the last row of a table is a total below it: it looks like one and has no SKU of its own, `SUM-100` and `Total 2` being some.

    Without a word it has figures alone, and lacks more than the SKU; one with a vendor is a product whose SKU is missing.
    """
    own = row[sku].strip()
    filled = [cell for cell in row if cell.strip()]
    has_vendor = vendor is not None and bool(row[vendor].strip())
    if not own and not has_vendor and 0 < len(filled) < len(row) - 1 and all(map(is_number, filled)):
        return True
    word = _COUNTED.fullmatch(own) or (_TOTALS.fullmatch(own) and not any(sign.isdigit() for sign in own))
    return totals_line(row) and (not own or bool(word))
