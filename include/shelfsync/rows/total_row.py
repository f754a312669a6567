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

    A key with a digit of its own, `Total 2`, is one only if a figure is the sum. Any other is one also if it lacks a value that each row has.
    A total in the column `vendor` may have the number of the rows in place of a SKU. Stores may have names; a SKU is no total where other SKUs are words.
    """
    keys = pc.cast(rows[key], pa.string()).combine_chunks()
    found = np.zeros(len(keys), dtype=bool)
    others = ~candidates
    if not candidates.any() or not others.any() or len(keys) > ROWS_MAX:
        return found
    digits = mask(pc.match_substring_regex(keys, _DIGIT).fill_null(False))
    if key == "sku" and digits[others].mean() < _USUAL:  # a word is a key of the usual form
        return found
    alone = mask(pc.match_substring_regex(keys, _ALONE)) | mask(pc.match_substring_regex(keys, _DECORATED))
    blank = np.zeros(len(keys), dtype=bool)
    for name in _FILLED:
        empty = mask(pc.equal(pc.utf8_trim_whitespace(rows[name]), "").fill_null(True))
        if not empty[others].any():
            blank |= empty
    figures = [_figures(rows[name]) for name in ("price", "quantity")]
    counts: list[Decimal | None] = _figures(rows["sku"]) if key == "vendor" else [None] * len(keys)
    for place in np.flatnonzero(candidates).tolist():
        word_alone = bool(alone[place]) and not digits[place]
        found[place] = (word_alone and bool(blank[place])) or _is_sum(figures, counts, others, candidates, place)
    return found


def _figures(texts: pa.ChunkedArray) -> list[Decimal | None]:
    numbers = number.read(pc.cast(texts, pa.string()).combine_chunks())
    return [
        -value if below and value is not None else value
        for value, below in zip(numbers.magnitude.to_pylist(), numbers.negative.tolist(), strict=True)
    ]


def _is_sum(
    figures: list[list[Decimal | None]], counts: list[Decimal | None], others: Mask, candidates: Mask, place: int
) -> bool:
    """Whether a figure is the sum of its column above, or a count that of the rows, from the first row or from the total before."""
    before = np.flatnonzero(candidates[:place])
    for start in {0, *(int(before[-1]) + 1,)} if len(before) else {0}:
        rows = start + np.flatnonzero(others[start:place])
        if len(rows) > 1 and counts[place] == len(rows):
            return True
        for values in figures:
            added = [values[row] or Decimal(0) for row in rows.tolist()]
            if values[place] and sum(one != 0 for one in added) > 1 and sum(added) == values[place]:
                return True
    return False


def shown(rows: pa.Table) -> list[str]:
    """Each row for a person: its filled cells."""
    names = [name for name in rows.column_names if name != "row_number"]
    return [
        f"row {row['row_number']}: a total among the rows: {'; '.join(row[name] for name in names if row[name])}"
        for row in rows.to_pylist()
    ]
