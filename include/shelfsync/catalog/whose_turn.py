"""whose_turn: which vendor's request leaves first, while more request bodies wait than the request limit allows.

Stop-sells first, then price changes, then the rest, the oldest of each first. Every `OLDEST_EVERY`-th turn goes to the body that has waited
longest, whatever it is. So no vendor starves: of n bodies that wait, the oldest but k leaves within `OLDEST_EVERY` times k + 1 turns.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, NamedTuple

from shelfsync.catalog.state import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable

OLDEST_EVERY = 5
_EVER = dt.datetime.min.replace(tzinfo=dt.UTC)


class Turn(NamedTuple):
    """What one vendor has to send of one priority. `wanted_at`: since when its oldest change waits; None: unknown, which counts as oldest."""

    vendor: str
    priority: str
    wanted_at: dt.datetime | None


def in_order(waiting: Iterable[Turn]) -> list[Turn]:
    """The turns in the order of sending, if nothing else comes. A vendor's own keep the order of their priorities."""
    waiting = list(waiting)
    urgent = iter(sorted(waiting, key=lambda turn: (_rank(turn), _since(turn), turn.vendor)))
    oldest = iter(sorted(waiting, key=lambda turn: (_since(turn), _rank(turn), turn.vendor)))
    found: dict[Turn, None] = {}
    for place in range(1, len(waiting) + 1):
        source = urgent if place % OLDEST_EVERY else oldest
        found[next(turn for turn in source if turn not in found)] = None
    return list(found)


def _rank(turn: Turn) -> int:
    return PRIORITIES.index(turn.priority) if turn.priority in PRIORITIES else len(PRIORITIES)


def _since(turn: Turn) -> dt.datetime:
    return turn.wanted_at or _EVER
