"""Rows of a CSV that a stray quote has joined: a cell that begins with a quote takes in all up to the next quote, lines and all.

A cell with line breaks is genuine unless one of its lines could be a row by itself. Such a line has all delimiters of a row, and its values
have the form of their columns: numbers where other rows have numbers, words where others have words. What stands before the cell in its
first line, and behind it in its last line, belongs to the row in either case, so it counts for nothing.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE_ROWS = 100
"""How many ordinary rows give the columns their forms."""

_BREAK = re.compile(r"\r\n|\n|\r")
_NUMBER = re.compile(r"""[\d.,'\u2019"+\-\s]*""")
_CHARACTERS_MAX = 40
"""A longer value is neither a number nor a word."""
_MOST = 0.9
"""The share of a column's values that have its form; the others are errors of the ERP."""


class _Form(IntEnum):
    ANY, WORD, NUMBER = range(3)


class _Likeness(IntEnum):
    """How much a line looks like a row: WEAK: nothing speaks against it; STRONG: a number stands where the row has numbers."""

    NONE, WEAK, STRONG = range(3)


class Forms:
    """The forms of the columns, by ordinary rows. Without one, delimiters alone count."""

    def __init__(self, sample: Sequence[Sequence[str]]) -> None:
        self._forms = [_form(column) for column in zip(*sample, strict=True)]

    def joined(self, row: Sequence[str], delimiter: str) -> bool:
        """Whether a cell of the row has lines in it that could be rows."""
        forms = self._forms or [_Form.ANY] * len(row)
        return any(
            _takes_in(_BREAK.split(cell), forms[:place], forms[place + 1 :], delimiter)
            for place, cell in enumerate(row)
            if "\n" in cell or "\r" in cell
        )


def _takes_in(lines: Sequence[str], before: Sequence[_Form], behind: Sequence[_Form], delimiter: str) -> bool:
    """Whether a cell takes in rows. `before`, `behind`: the forms of the columns around it."""
    first, last = lines[0].split(delimiter), lines[-1].split(delimiter)
    ends = (
        _likeness(first[1:], (), behind),
        _likeness(last[:-1], before, ()),
    )
    inner = (_likeness(line.split(delimiter), (*before, _Form.ANY), behind) for line in lines[1:-1])
    return max(ends) == _Likeness.STRONG or min(ends) > _Likeness.NONE or _Likeness.STRONG in inner


def _likeness(fields: Sequence[str], left: Sequence[_Form], right: Sequence[_Form]) -> _Likeness:
    """The fields against forms from both ends: a text between them may have delimiters of its own."""
    if len(fields) < len(left) + len(right):
        return _Likeness.NONE
    pairs = [*zip(fields, left, strict=False), *zip(fields[len(fields) - len(right) :], right, strict=True)]
    wrong = sum(not _fits(field, form) for field, form in pairs)
    numbers = sum(form == _Form.NUMBER and field != "" and _fits(field, form) for field, form in pairs)
    if numbers and wrong <= numbers:
        return _Likeness.STRONG
    return _Likeness.NONE if wrong else _Likeness.WEAK


def _fits(field: str, form: _Form) -> bool:
    if field == "" or form == _Form.ANY:
        return True
    if len(field) > _CHARACTERS_MAX:
        return False
    if form == _Form.WORD:
        return len(field.split()) == 1 and field == field.strip()
    return _NUMBER.fullmatch(field) is not None and any(letter.isdigit() for letter in field)


def _form(values: Sequence[str]) -> _Form:
    given = [value for value in values if value]
    for form in (_Form.NUMBER, _Form.WORD):
        if given and sum(_fits(value, form) for value in given) >= _MOST * len(given):
            return form
    return _Form.ANY
