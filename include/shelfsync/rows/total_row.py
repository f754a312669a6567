"""Rows that a program wrote among the products: a total, a subtotal or a heading that stands in the column of the key.

A word is no proof, because a product may be called so. A row is a total if its key has a word for one, if the keys around it look otherwise,
and if its figures are those of a total. It is a heading if it has nothing but a key that looks otherwise than nearly all others.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows import number
from shelfsync.rows.mask import mask
from shelfsync.rows.quarantine_reason import UNREADABLE
from shelfsync.schemas import PRICE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.rows.mask import Mask

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
_SUMMED = ("price", "quantity")
_OF_PRODUCTS = ("price", "quantity", "active")
_USUAL = 0.9
_ROWS_MIN = 3
"""In fewer rows a value that only one lacks, or a figure that is a sum, is a chance."""


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


def words(names: Iterable[str]) -> list[str]:
    """Those of these names that `may_be` finds, in their order."""
    every = list(names)
    return [name for name, may in zip(every, may_be(pa.array(every, pa.string())), strict=True) if may]


class Above:
    """What the rows that are no candidates show: the rows, the values that one of them lacks, and sums between the candidates.

    `places`: where in the list the candidates stand, ascending. The rows come by `add` in parts, in any order.
    """

    def __init__(self, places: np.ndarray) -> None:
        self._places = places
        self.rows = 0
        self.lacking: set[str] = set()
        self._between = [_Sums() for _ in range(len(places) + 1)]

    def add(self, rows: pa.Table, places: np.ndarray) -> None:
        """A part of the rows (RAW schema, at least what is `needed`), and where in the list they stand."""
        if not rows.num_rows:
            return
        self.rows += rows.num_rows
        came = rows.column_names
        products = rows.filter(pa.array(_is_product(rows["sku"]))) if "sku" in came else rows
        self.lacking |= {
            name for name in _FILLED if name in came and name not in self.lacking and _blank(products, name).any()
        }
        table = {"segment": pa.array(np.searchsorted(self._places, places))}
        for name in _SUMMED:
            figures = _figures(rows[name]) if name in came else pa.nulls(rows.num_rows, PRICE)
            table |= {name: figures, f"{name}_count": pc.not_equal(figures, 0).cast(pa.int64())}
        sums = [(name, "sum") for name in table if name != "segment"]
        found = pa.table(table).group_by("segment").aggregate([*sums, ("segment", "count")])
        for one in found.to_pylist():
            self._between[one["segment"]].add(
                one["segment_count"], [(one[f"{name}_sum"] or 0, one[f"{name}_count_sum"] or 0) for name in _SUMMED]
            )

    def add_up_to(self, figures: list[list[Decimal | None]], counts: list[Decimal | None], lacks: Mask) -> Mask:
        """Which candidates have a figure that is the sum of its column above, or the count of the rows: from the first row or the candidate before."""
        found = np.zeros(len(self._places), dtype=bool)
        whole = _Sums()
        for place, part in enumerate(self._between[:-1]):
            whole.add(part.rows, list(zip(part.sums, part.figures, strict=True)))
            row = [values[place] for values in figures]
            rows_min = _ROWS_MIN - 1 if lacks[place] else _ROWS_MIN
            found[place] = any(above.add_up_to(row, counts[place], rows_min) for above in (whole, part))
        return found


def needed(candidates: pa.Table, above: Above) -> list[str]:
    """The columns of more rows above by which one of these candidates (of the column vendor, RAW schema) may be a total; none: it cannot."""
    lacking = [name for name in _FILLED if name not in above.lacking and _blank(candidates, name).any()]
    figures = [name for name in _SUMMED if pc.any(pc.not_equal(_figures(candidates[name]), 0)).as_py()]
    bare = pa.array(_blank(candidates, "name") & _blank(candidates, "price"))
    counts = _figures(candidates["sku"]).filter(bare)
    if not (lacking or figures or counts.null_count < len(counts)):
        return []
    return list(dict.fromkeys(["row_number", *lacking, *figures]))


def totals(rows: pa.Table, key: str, candidates: Mask) -> Mask:
    """Which of the candidates are totals of the rows above them. `rows`: RAW schema in the order of the list; `key`: the column that `may_be` saw.

    A SKU is no total where other SKUs are words. For the rest see `proved`.
    """
    keys = pc.cast(rows[key], pa.string()).combine_chunks()
    found = np.zeros(len(keys), dtype=bool)
    others = ~candidates
    if not candidates.any() or not others.any():
        return found
    digits = mask(pc.match_substring_regex(keys, _DIGIT).fill_null(False))
    products = others & _is_product(keys)
    if key == "sku" and not (products.any() and digits[products].mean() >= _USUAL):  # a word is a key of the usual form
        return found
    above = Above(np.flatnonzero(candidates))
    above.add(rows.filter(pa.array(others)), np.flatnonzero(others))
    found[candidates] = proved(rows.filter(pa.array(candidates)), key, above)
    return found


def proved(rows: pa.Table, key: str, above: Above) -> Mask:
    """Which of these candidates (RAW schema, in the order of the list) are totals, by what `above` shows of all other rows.

    A word alone is one if it lacks a value that each row has, and at least three rows are none. Any other, such as `Total 2`, needs a figure
    that is the sum of its column, from the first row or from the candidate before; if it lacks nothing, of three rows at least. A total in the
    column `vendor` may have the number of the rows in place of a SKU, and one with several rows needs a figure. Stores may have names.
    """
    keys = pc.cast(rows[key], pa.string()).combine_chunks()
    digits = mask(pc.match_substring_regex(keys, _DIGIT).fill_null(False))
    word_alone = mask(pc.match_substring_regex(keys, _ALONE)) | mask(pc.match_substring_regex(keys, _DECORATED))
    lacks = np.zeros(len(keys), dtype=bool)
    for name in _FILLED:
        if name not in above.lacking:
            lacks |= _blank(rows, name)
    found = word_alone & ~digits & lacks & (above.rows >= _ROWS_MIN)
    counts: list[Decimal | None] = [None] * len(keys)
    if key == "vendor":
        of_key = pc.value_counts(keys)
        several = of_key.field("values").filter(pc.greater(of_key.field("counts"), 1))
        found &= ~mask(pc.is_in(keys, value_set=several))
        nameless = _blank(rows, "name") & _blank(rows, "price")
        counts = [
            value if alone else None
            for value, alone in zip(_figures(rows["sku"]).to_pylist(), nameless.tolist(), strict=True)
        ]
    sums = above.add_up_to([_figures(rows[name]).to_pylist() for name in _SUMMED], counts, lacks)
    return np.asarray(found | sums, dtype=bool)


def headings(rows: pa.Table) -> Mask:
    """Which rows (RAW schema) are headings: `Drinks` above the numbers of the drinks, and no other value.

    The row has nothing that differs from row to row, and lacks a price, a quantity or `active`, which nearly all others have: a reading of keys alone,
    or one in which only some products have a barcode, has no headings. Its key has letters, and either nearly all others have none, or they have digits and it has not.
    """
    alone = _alone(rows)
    if not alone.any():
        return alone
    keys = rows["sku"].combine_chunks() if isinstance(rows["sku"], pa.ChunkedArray) else rows["sku"]
    letters = mask(pc.match_substring_regex(keys, r"\p{L}").fill_null(False))
    digits = mask(pc.match_substring_regex(keys, _DIGIT).fill_null(False))
    others = ~alone & _is_product(keys)
    if others.sum() < _ROWS_MIN:
        return np.zeros(len(keys), dtype=bool)
    lacks = np.zeros(len(keys), dtype=bool)
    for blank in (_blank(rows, name) for name in _OF_PRODUCTS):
        lacks |= blank & ((~blank)[others].mean() >= _USUAL)
    numbers, numbered = (~letters)[others].mean() >= _USUAL, digits[others].mean() >= _USUAL
    found: Mask = alone & lacks & _is_product(keys) & letters & (numbers | (numbered & ~digits))
    return found


def _alone(rows: pa.Table) -> Mask:
    """Rows with a key alone. A value that is the same in all rows, such as a constant, is none."""
    found = np.ones(rows.num_rows, dtype=bool)
    for name in rows.column_names:
        if not found.any() or name in {"row_number", "vendor", "sku"} or rows[name].null_count == rows.num_rows:
            continue
        blank = _blank(rows, name)
        if blank[found].all() or (not blank.any() and len(pc.unique(rows[name])) == 1):
            continue
        found &= blank
    return found


class _Sums:
    """The sums of some rows, and how many of them have a figure that is not zero."""

    def __init__(self) -> None:
        self.rows = 0
        self.sums = [Decimal(0)] * len(_SUMMED)
        self.figures = [0] * len(_SUMMED)

    def add(self, rows: int, columns: list[tuple[Decimal, int]]) -> None:
        """More rows: the sum of each column, and its figures that are not zero."""
        self.rows += rows
        for place, (total, figures) in enumerate(columns):
            self.sums[place] += total
            self.figures[place] += figures

    def add_up_to(self, row: list[Decimal | None], count: Decimal | None, rows_min: int) -> bool:
        """Whether a figure of this row is the sum of at least `rows_min` figures, or its count that of the rows."""
        if self.rows > 1 and count == self.rows:
            return True
        return any(
            value and figures >= rows_min and value == total
            for value, figures, total in zip(row, self.figures, self.sums, strict=True)
        )


def _is_product(skus: pa.Array | pa.ChunkedArray) -> Mask:
    """Which of these keys are some: what cannot be read, and a row without a key, lacks more than a row of the list does."""
    return mask(pc.and_(pc.not_equal(pc.utf8_trim_whitespace(skus), ""), pc.invert(pc.starts_with(skus, UNREADABLE))))


def _blank(rows: pa.Table, name: str) -> Mask:
    return mask(pc.equal(pc.utf8_trim_whitespace(rows[name]), "").fill_null(True))


def _figures(texts: pa.ChunkedArray) -> pa.Array:
    """The numbers of a column; null where there is none."""
    numbers = number.read(pc.cast(texts, pa.string()).combine_chunks())
    return pc.if_else(pa.array(numbers.negative), pc.negate(numbers.magnitude), numbers.magnitude)


def shown(rows: pa.Table) -> list[str]:
    """Each row for a person: its filled cells."""
    names = [name for name in rows.column_names if name != "row_number"]
    return [
        f"row {row['row_number']}: a total among the rows: {'; '.join(row[name] for name in names if row[name])}"
        for row in rows.to_pylist()
    ]
