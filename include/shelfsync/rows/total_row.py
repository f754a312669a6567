"""Rows that a program wrote among the products: a total or a subtotal that stands in the columns of the key.

A word is no proof, because a product may be called so. A row is a total if its key has a word for one, if the keys around it look otherwise,
and if its figures are those of a total.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows import number
from shelfsync.rows.truth import mask

if TYPE_CHECKING:
    from shelfsync.rows.truth import Mask

WORDS = (
    r"(?:grand\s+|sub\s*-?\s*)?totals?(?:\s+g[eé]n[eé]ral)?|gran\s+total|sum|summe|gesamt(?:summe|betrag)?|zwischensumme|endsumme|insgesamt"
    r"|somme|sous\s*-?\s*total|suma|suma\s+cz[eę][sś]ciowa|(?:sub)?totale(?:\s+parziale|\s+generale)?|(?:sub)?totaal|tussentotaal|razem|og[oó][lł]em"
    r"|итого|всего|подитог|промежуточный\s+итог|סה\W?כ|المجموع|(?:ara\s+|genel\s+)?toplam|összesen|celkem|meziso[uú][cč]et|yhteensä|välisumma"
    r"|summa|delsumma|i\s+alt|σύνολο"
)
"""Words for a total and a subtotal, as a part of a regular expression without regard to case."""
_WORD = rf"(?i)^[\s*=#_.:Σ-]*(?:{WORDS})(?:[\s:]|[*=#_.-]+$|$)"
_ALONE = rf"(?i)^[\s*=#_.:Σ-]*(?:{WORDS})[\s*=#_.:-]*$"
_DECORATED = r"^[*=#_-]{2,}.*\p{L}.*[*=#_-]{2,}$"
"""A line such as `*** Ende ***`."""
_DIGIT = r"\p{N}"
_FILLED = ("name", "barcode", "price", "quantity", "active", "category")
_USUAL = 0.9
_ROWS_MIN = 3
"""In fewer rows a value that only one lacks, or a figure that is a sum, is a chance."""
ROWS_MAX = 200_000
"""In more rows no total is looked for."""


def may_be(keys: pa.Array) -> Mask:
    """Which of these keys have a word for a total, or the decoration of a line that ends a list."""
    if not len(keys):
        return np.zeros(0, dtype=bool)
    lettered = mask(pc.match_substring_regex(keys, r"^[\s*=#_.:Σ-]*\p{L}")).copy()
    places = np.flatnonzero(lettered | mask(pc.starts_with(keys, "**")) | mask(pc.starts_with(keys, "==")))
    found = np.zeros(len(keys), dtype=bool)
    if len(places):
        some = keys.take(pa.array(places))
        found[places] = mask(pc.match_substring_regex(some, _WORD)) | mask(pc.match_substring_regex(some, _DECORATED))
    return found


def totals(rows: pa.Table, key: str, candidates: Mask) -> Mask:
    """Which of the candidates are totals of the rows above them. `rows`: RAW schema in the order of the list; `key`: the column that `may_be` saw.

    A word alone is one if it lacks a value that each row has, and at least three rows are none. Any other, such as `Total 2`, needs a figure
    that is the sum of its column, from the first row or from the candidate before; if it lacks nothing, of three rows at least. A total in the
    column `vendor` may have the number of the rows in place of a SKU, and one with several rows needs a figure. Stores may have names; a SKU
    is no total where other SKUs are words.
    """
    keys = pc.cast(rows[key], pa.string()).combine_chunks()
    found = np.zeros(len(keys), dtype=bool)
    others = ~candidates
    if not candidates.any() or not others.any() or len(keys) > ROWS_MAX:
        return found
    digits = mask(pc.match_substring_regex(keys, _DIGIT).fill_null(False))
    if key == "sku" and digits[others].mean() < _USUAL:  # a word is a key of the usual form
        return found
    word_alone = mask(pc.match_substring_regex(keys, _ALONE)) | mask(pc.match_substring_regex(keys, _DECORATED))
    blank = {name: mask(pc.equal(pc.utf8_trim_whitespace(rows[name]), "").fill_null(True)) for name in _FILLED}
    lacks = np.zeros(len(keys), dtype=bool)
    for empty in blank.values():
        if not empty[others].any():
            lacks |= empty
    proved = word_alone & ~digits & lacks & (others.sum() >= _ROWS_MIN)
    if key == "vendor":
        of_key = pc.value_counts(keys.filter(pa.array(candidates)))
        several = of_key.field("values").filter(pc.greater(of_key.field("counts"), 1))
        proved &= ~mask(pc.is_in(keys, value_set=several))
        counts = [
            value if nameless else None
            for value, nameless in zip(_figures(rows["sku"]), blank["name"] & blank["price"], strict=True)
        ]
    else:
        counts = [None] * len(keys)
    sums = _sums([_figures(rows[name]) for name in ("price", "quantity")], counts, candidates, lacks)
    return np.asarray(candidates & (proved | sums), dtype=bool)


def _sums(
    figures: list[list[Decimal | None]], counts: list[Decimal | None], candidates: Mask, lacks: Mask
) -> np.ndarray:
    """Which candidates have a figure that is the sum of its column above, or the count of the rows: from the first row or the candidate before."""
    found = np.zeros(len(candidates), dtype=bool)
    whole, part = _Above(len(figures)), _Above(len(figures))
    for place, is_candidate in enumerate(candidates.tolist()):
        row = [values[place] for values in figures]
        if is_candidate:
            rows_min = _ROWS_MIN - 1 if lacks[place] else _ROWS_MIN
            found[place] = any(above.add_up_to(row, counts[place], rows_min) for above in (whole, part))
            part = _Above(len(figures))
        else:
            whole.add(row)
            part.add(row)
    return found


class _Above:
    """The sums of the rows above a candidate, and how many of them have a figure that is not zero."""

    def __init__(self, columns: int) -> None:
        self._rows = 0
        self._sums = [Decimal(0)] * columns
        self._figures = [0] * columns

    def add(self, row: list[Decimal | None]) -> None:
        """One row more."""
        self._rows += 1
        for number_of, value in enumerate(row):
            if value:
                self._sums[number_of] += value
                self._figures[number_of] += 1

    def add_up_to(self, row: list[Decimal | None], count: Decimal | None, rows_min: int) -> bool:
        """Whether a figure of this row is the sum of at least `rows_min` figures, or its count that of the rows."""
        if self._rows > 1 and count == self._rows:
            return True
        return any(
            value and figures >= rows_min and value == total
            for value, figures, total in zip(row, self._figures, self._sums, strict=True)
        )


def _figures(texts: pa.ChunkedArray) -> list[Decimal | None]:
    numbers = number.read(pc.cast(texts, pa.string()).combine_chunks())
    return [
        -value if below and value is not None else value
        for value, below in zip(numbers.magnitude.to_pylist(), numbers.negative.tolist(), strict=True)
    ]


def shown(rows: pa.Table) -> list[str]:
    """Each row for a person: its filled cells."""
    names = [name for name in rows.column_names if name != "row_number"]
    return [
        f"row {row['row_number']}: a total among the rows: {'; '.join(row[name] for name in names if row[name])}"
        for row in rows.to_pylist()
    ]
