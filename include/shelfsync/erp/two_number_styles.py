"""Whether one file, or the files of one source, have numbers in two styles: then nothing of such a file is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.erp.number_notation import DECIMAL_MARK, THOUSANDS_MARK
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.erp.number_notation import Notation, Texts

SHARE = 0.2
"""From this share on of the numbers whose mark has one meaning, the other decimal mark is a second style and no slip of the pen."""


@dataclass
class Styles:
    """Whether the number texts of one file are written in two styles, `1.299` beside `4,99`: then neither can be trusted."""

    where: str
    notation: Notation
    _both_marks: str | None = field(default=None)
    _other: str | None = field(default=None)
    _ambiguous: str | None = field(default=None)
    _others: int = 0
    _clear: int = 0
    _unclear: int = 0
    _thousandths: bool = False
    """Whether a text has three decimals for certain (`0.950`, `1234.500`): then `1.150` has too."""

    def look(self, name: str, values: Texts, skus: Texts) -> None:
        """Looks at the next texts of a column as the source wrote them."""
        each = pc.value_counts(values)  # a store has few distinct prices and counts
        texts, counts = each.field("values"), each.field("counts")
        marked = pc.match_substring_regex(texts, _MARKED).fill_null(False)
        if not pc.any(marked).as_py():
            return
        other, both = (
            pc.match_substring_regex(texts, pattern).fill_null(False) for pattern in _OTHER[self.notation.decimal_mark]
        )
        ambiguous = pc.match_substring_regex(texts, self._ambiguities()).fill_null(False)
        clear = pc.and_(marked, pc.invert(ambiguous))  # `1.299` is no witness of either style
        self._clear += pc.sum(counts.filter(clear)).as_py() or 0
        self._unclear += pc.sum(counts.filter(ambiguous)).as_py() or 0
        self._thousandths |= bool(
            pc.any(pc.match_substring_regex(texts, _THOUSANDTHS[self.notation.decimal_mark])).as_py()
        )
        self._others += pc.sum(counts.filter(pc.or_(other, both))).as_py() or 0
        self._both_marks = self._both_marks or _cell(name, values, skus, texts.filter(both))
        self._other = self._other or _cell(name, values, skus, texts.filter(other))
        self._ambiguous = self._ambiguous or _cell(name, values, skus, texts.filter(ambiguous))

    def check(self, elsewhere: str | None = None) -> None:
        """Raises DataError with both cells if there are two styles so far. One cell that groups and has decimals, or a share of SHARE, is enough.

        A file without a number of a clear style is judged by a cell `elsewhere`, in another file of its source.
        """
        if self._ambiguous is None:
            return
        cell = self.other_style()
        if cell is None and self._clear == self._others:
            cell = elsewhere
        if cell is not None:
            raise DataError(
                f"{self.where} has numbers in two styles: {self._ambiguous} may be a thousand times as much or as little, because {cell}"
                f" has another decimal mark. Nothing of it was sent. Let the ERP write one style, and name it by {DECIMAL_MARK} and"
                f" {THOUSANDS_MARK}."
            )

    def other_style(self) -> str | None:
        """A cell that shows another decimal mark than that of the settings, unless it is a slip of the pen."""
        clear = self._clear + (self._unclear if self._thousandths else 0)
        return self._both_marks or (self._other if self._others >= SHARE * clear else None)

    def _ambiguities(self) -> str:
        """Texts that are a number in this notation and another one where point and comma change their places."""
        marks = {self.notation.decimal_mark, self.notation.thousands_mark} & {".", ","}
        return rf"^\D*[1-9]\d{{0,2}}[{''.join(sorted(marks))}]\d{{3}}\D*$"


def first_other_style(styles: Iterable[Styles]) -> str | None:
    """The first cell of these files that shows another decimal mark than that of the settings, and its file."""
    cells = ((one.other_style(), one.where) for one in styles)
    return next((f"{cell} in {where}" for cell, where in cells if cell is not None), None)


_MARKED = r"\d[.,]\d"
_THOUSANDTHS = {mark: rf"^\D*(?:0|\d{{4,}})[{mark}]\d{{3}}\D*$" for mark in (".", ",")}
_OTHER = {
    ".": (r"^\D*\d+,(?:\d{1,2}|\d{4,})\D*$", r"^\D*\d{1,3}(?:\.\d{3})+,\d*\D*$"),
    ",": (r"^\D*\d+\.(?:\d{1,2}|\d{4,})\D*$", r"^\D*\d{1,3}(?:,\d{3})+\.\d*\D*$"),
}
"""By the decimal mark: texts that are a number with the other mark alone, without and with groups of digits."""


def _cell(name: str, values: Texts, skus: Texts, found: pa.Array) -> str | None:
    """The first of these texts for a person, with its SKU."""
    if not len(found):
        return None
    where = pc.index(values, found[0]).as_py()
    return f"{name} {found[0].as_py()!r} of SKU {skus[where].as_py()!r}"
