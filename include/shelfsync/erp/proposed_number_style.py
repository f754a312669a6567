"""In which notation a file writes its numbers, by all of its cells together; what cannot be known from them is told, not chosen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shelfsync.erp.column_kinds import NULLS, is_currency, is_number, without_currency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SPACES = "[ \u00a0\u2000-\u200a\u202f\u205f\u3000]"
_GROUPS = (
    ("'", re.compile(r"\d{1,3}(?:['\u2019]\d{3})+")),
    ("space", re.compile(rf"\d{{1,3}}(?:{_SPACES}\d{{3}})+")),
    (".", re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d*)|\d{1,3}(?:\.\d{3}){2,}")),
    (",", re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d*)|\d{1,3}(?:,\d{3}){2,}")),
)
_DECIMALS = {mark: re.compile(rf"(?:\d|['\u2019]|{_SPACES})*{re.escape(mark)}(?:\d{{1,2}}|\d{{4,}})") for mark in ".,"}
_ZERO_DECIMALS = {mark: re.compile(rf"0?{re.escape(mark)}\d+") for mark in ".,"}
_BOTH = {".": re.compile(r"\d[\d,]*,\d{3}\.\d*"), ",": re.compile(r"\d[\d.]*\.\d{3},\d*")}
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}([.,])\d{3}")
_DASH = re.compile(r"[.,]\s*[-\u2212\u2013\u2014]+$")
"""A price without cents, `19,-`: the dash is no minus."""
_OTHER = {".": ",", ",": "."}


@dataclass(frozen=True)
class NumberStyle:
    """Values for DECIMAL_MARK, THOUSANDS_MARK, MINUS, CURRENCIES; None and empty: the default fits, or `doubts` says why it is unknown."""

    decimal_mark: str | None
    thousands_mark: str | None
    minus: str | None
    currencies: tuple[str, ...]
    doubts: tuple[str, ...]


def style_of(columns: Mapping[str, Sequence[str]]) -> NumberStyle:
    """The notation of columns of numbers, by their names."""
    cells = _Cells()
    for name, values in columns.items():
        for value in values:
            if value.strip().casefold() not in NULLS and is_number(value):
                cells.look(name, value)
    return cells.style()


@dataclass
class _Cells:
    """By a mark, the first cell that proves it, with the name of its column."""

    decimal: dict[str, str] = field(default_factory=dict)
    thousands: dict[str, str] = field(default_factory=dict)
    ambiguous: dict[str, str] = field(default_factory=dict)
    currencies: dict[str, None] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    minus: str | None = None
    dash: str | None = None

    def look(self, name: str, value: str) -> None:
        text, sign = without_currency(value)
        self._look_beside(sign, f"{name} {value.strip()!r}")
        if _DASH.search(text):
            self.dash = self.dash or f"{name} {value.strip()!r}"
        elif text.startswith("(") or text.endswith(("-", "\u2212")):
            self.minus = "any"
        body = text.strip("()+-\u2212 \u00a0")
        shown = f"{name} {value.strip()!r}"
        for mark in ".,":
            if any(form[mark].fullmatch(body) for form in (_DECIMALS, _ZERO_DECIMALS, _BOTH)):
                self.decimal.setdefault(mark, shown)
        for group, form in _GROUPS:
            if (found := form.match(body)) is not None:
                self.thousands.setdefault(group, shown)
                if group in _OTHER and found.end() == len(body):  # two groups or more: this mark is no decimal mark
                    self.decimal.setdefault(_OTHER[group], shown)
        if (only := _AMBIGUOUS.fullmatch(body)) is not None:
            self.ambiguous.setdefault(only[1], shown)

    def _look_beside(self, sign: str, shown: str) -> None:
        if is_currency(sign):
            self.currencies[sign] = None
        elif sign:
            self.units.setdefault(sign, shown)

    def style(self) -> NumberStyle:
        found = self._marks()
        doubts = [
            f"{shown} has {sign!r} beside the number, which is no currency that shelfsync knows. If the number is right without it, put {sign!r}"
            " into SHELFSYNC_ERP__CURRENCIES; else such a value is quarantined"
            for sign, shown in self.units.items()
        ]
        if self.dash is not None:
            doubts.append(
                f"{self.dash} has a dash in place of decimals, which shelfsync reads as no number; let the ERP write 00"
            )
        return replace(found, doubts=(*found.doubts, *doubts))

    def _marks(self) -> NumberStyle:
        currencies = tuple(self.currencies)
        if len(self.decimal) == 2:
            both = f"{self.decimal['.']} beside {self.decimal[',']}"
            doubt = f"the numbers are written in two styles: {both}. shelfsync sends nothing of such a file; let the ERP write one"
            return NumberStyle(None, None, self.minus, currencies, (doubt,))
        point = next(iter(self.decimal), None)
        group = next((one for one in self.thousands if one != point), None)
        if point is None:
            return NumberStyle(None, group, self.minus, currencies, self._either())
        doubts = []
        for mark, shown in self.ambiguous.items():
            because = f"because {self.decimal[point]} has the decimal mark {point!r}"
            if mark == point:
                doubt = f"{shown} is read with three decimals, {because} too. If it has thousands, let the ERP write it without a mark"
            else:
                group, doubt = group or mark, f"{shown} is read as grouped by {mark!r}, {because}"
            doubts.append(doubt)
        return NumberStyle(None if point == "." else point, group, self.minus, currencies, tuple(doubts))

    def _either(self) -> tuple[str, ...]:
        """Why no cell shows the decimal mark, if one is ambiguous."""
        if len(self.ambiguous) == 2:
            both = f"{self.ambiguous['.']} beside {self.ambiguous[',']}"
            return (f"the numbers may be written in two styles: {both}; let the ERP write one",)
        return tuple(
            f"{shown} may be {number.replace(mark, '')} or {number.replace(',', '.')}, and no other number shows which."
            f" For the first, set {_THOUSANDS[mark]}; for the second, set {_DECIMAL[mark]}"
            for mark, shown in self.ambiguous.items()
            for number in _AMBIGUOUS_IN.findall(shown)[-1:]
        )


_AMBIGUOUS_IN = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_THOUSANDS = {
    ".": "SHELFSYNC_ERP__THOUSANDS_MARK=. and SHELFSYNC_ERP__DECIMAL_MARK=,",
    ",": "SHELFSYNC_ERP__THOUSANDS_MARK=,",
}
_DECIMAL = {".": "none of them", ",": "SHELFSYNC_ERP__DECIMAL_MARK=,"}
