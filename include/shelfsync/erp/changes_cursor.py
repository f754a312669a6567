"""The cursor of the changes: the greatest value of one column, from which the next reading begins.

A reading begins an overlap before it, because an ERP writes the time at which a transaction began, and a row appears when it commits. The
overlap's rows come again with each reading, which changes nothing. A time far ahead does not move the cursor.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

_AHEAD = dt.timedelta(days=2)
"""Later than any clock of any zone. One row with such a time would keep all others from being read, so the cursor stops before it."""


@dataclass(frozen=True)
class Position:
    """Where the next reading begins: its cursor, and the mark of the rows that it would read if nothing changed meanwhile."""

    cursor: str
    mark: str


@dataclass(frozen=True, order=True)
class Number:
    number: Decimal

    @classmethod
    def of(cls, raw: Any) -> Self:
        number = Decimal(str(raw))
        if not number.is_finite():
            raise ValueError(raw)
        return cls(number)

    def before(self, overlap: Decimal) -> Self:
        return type(self)(self.number - overlap)

    def __str__(self) -> str:
        return f"{self.number.normalize():f}"  # 4711, and not 4711.0


@dataclass(frozen=True, order=True)
class Time:
    """A time with a zone, or one without: the ERP's own. `sign` stands between day and time in its texts."""

    moment: dt.datetime
    sign: str = " "

    @classmethod
    def of(cls, raw: Any) -> Self:
        if isinstance(raw, dt.datetime):
            return cls(raw)
        if isinstance(raw, dt.date):
            return cls(dt.datetime.combine(raw, dt.time()))
        text = str(raw).strip()
        return cls(dt.datetime.fromisoformat(text), "T" if "T" in text else " ")

    def before(self, overlap: Decimal) -> Self:
        try:
            return type(self)(self.moment - dt.timedelta(seconds=float(overlap)), self.sign)
        except OverflowError:
            return self

    def ahead(self) -> Self:
        """The latest time that can be true now, in the same form."""
        now = dt.datetime.now(self.moment.tzinfo).replace(microsecond=0)
        return type(self)(now + _AHEAD, self.sign)

    def __str__(self) -> str:
        return self.moment.isoformat(sep=self.sign)
