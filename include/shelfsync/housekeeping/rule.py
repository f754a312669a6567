"""One rule of the housekeeping."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Rows of `table` for which `where` holds may go; `:cutoff` in it is `days` before the present."""

    table: str
    days: float
    where: str
