"""Who goes first: lanes by what starving costs, each with a floor, so that none starves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Lane:
    """A kind of work. `floor`: the share of the allowance it gets while it has work, whatever the others want."""

    name: str
    floor: float


LANES = (
    Lane("order", 0.30),  # a customer is waiting
    Lane("stop_sell", 0.20),  # every minute sells what is not there
    Lane("price", 0.10),  # every minute sells at the wrong price
    Lane("catalog", 0.10),
    Lane("promotion", 0.05),
    Lane("export", 0.05),
    Lane("history", 0.05),
)
"""Dearest first. The floors add up to less than one: what is left goes to the dearest lane that has work."""

_RANK = {lane.name: rank for rank, lane in enumerate(LANES)}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits for a slot. Numbers grow with time: within a lane the lowest goes first."""

    number: int
    lane: str
    asked_at: dt.datetime


def known(name: str) -> str:
    """The name, if there is such a lane; ValueError otherwise."""
    if name not in _RANK:
        raise ValueError(f"there is no lane {name!r}; the lanes are {', '.join(_RANK)}")
    return name


def gap(name: str, spacing: dt.timedelta) -> dt.timedelta:
    """The longest distance of two slots of a lane that always has work."""
    return spacing / LANES[_RANK[name]].floor


def due_after(name: str, served_at: dt.datetime, due_at: dt.datetime | None, spacing: dt.timedelta) -> dt.datetime:
    """When a lane that was served at this slot has to be served again.

    Served late, it keeps its rhythm, so that its floor holds over time; served early, because it was the dearest anyway, it
    gains no claim and owes nothing.
    """
    rhythm = gap(name, spacing)
    last = served_at if due_at is None else min(max(due_at, served_at - rhythm), served_at)
    return last + rhythm


def overdue_at(head: Waiting, due: Mapping[str, dt.datetime], spacing: dt.timedelta) -> dt.datetime:
    """When the floor of a lane is overdue whose oldest request is this one.

    A lane that was idle has no old claims: it is a gap after somebody asked at the earliest.
    """
    since = head.asked_at + gap(head.lane, spacing)
    return max(since, due[head.lane]) if head.lane in due else since


def order(
    waiting: Iterable[Waiting], due: Mapping[str, dt.datetime], now: dt.datetime, spacing: dt.timedelta
) -> list[Waiting]:
    """Those who wait, as they will be served if nobody else comes.

    First the heads of lanes whose floor is overdue, the longest overdue before others; then by lane, oldest first. `due`:
    what `due_after` said of each lane.
    """
    queue = sorted(waiting, key=lambda one: (_RANK[one.lane], one.number))
    heads: dict[str, Waiting] = {}
    for one in queue:
        heads.setdefault(one.lane, one)
    since = {head: overdue_at(head, due, spacing) for head in heads.values()}
    first = sorted((head for head in since if since[head] <= now), key=lambda head: (since[head], _RANK[head.lane]))
    return first + [one for one in queue if one not in first]
