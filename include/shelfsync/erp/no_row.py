"""Which line of a list is no row of it: the names of the columns again, a total, a drawn line, a line that ends the list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shelfsync.erp.column_kinds import is_currency, is_number
from shelfsync.rows.total_row import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEADER_AGAIN = "the names of the columns again"
TOTAL = "a total or a count of the rows"
RULE = "a drawn line"
END = "a line that ends or parts the list"
"""Why a line is no row of the table, for a person."""

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
    return not first.strip().strip(_RULE) or first.strip().casefold() == names[0]


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
