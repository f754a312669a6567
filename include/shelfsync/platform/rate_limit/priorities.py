"""The order of requests: priorities by the cost of waiting, each with a guaranteed floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Priority:
    """A kind of work. `floor`: its guaranteed share of the allowance while it has work."""

    name: str
    floor: float


PRIORITIES = (
    Priority("order", 0.30),  # a customer is waiting
    Priority("stop_sell", 0.20),  # every minute sells what is not there
    Priority("price", 0.10),  # every minute sells at the wrong price
    Priority("catalog", 0.10),
    Priority("promotion", 0.05),
    Priority("export", 0.05),
    Priority("history", 0.05),
)
"""Most urgent first. The floors add up to less than one: the rest goes to the most urgent priority that has work."""

_RANK = {priority.name: rank for rank, priority in enumerate(PRIORITIES)}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits for a slot. Numbers grow with time: within a priority the lowest goes first."""

    number: int
    priority: str
    asked_at: dt.datetime


def known(name: str) -> str:
    """The name, if there is such a priority; ValueError otherwise."""
    if name not in _RANK:
        raise ValueError(f"there is no priority {name!r}; the priorities are {', '.join(_RANK)}")
    return name


def gap(name: str, spacing: dt.timedelta) -> dt.timedelta:
    """The longest distance of two slots of a priority that always has work."""
    return spacing / PRIORITIES[_RANK[name]].floor


def due_after(name: str, served_at: dt.datetime, due_at: dt.datetime | None, spacing: dt.timedelta) -> dt.datetime:
    """When a priority that was served at this slot has to be served again.

    Served late, it keeps its rhythm, so that its floor holds over time; served early, because it was the dearest anyway, it
    gains no claim and owes nothing.
    """
    rhythm = gap(name, spacing)
    last = served_at if due_at is None else min(max(due_at, served_at - rhythm), served_at)
    return last + rhythm


def overdue_at(head: Waiting, due: Mapping[str, dt.datetime], spacing: dt.timedelta) -> dt.datetime:
    """When the floor of a priority is overdue whose oldest request is this one.

    A priority that was idle has no old claims: it is a gap after its first request at the earliest.
    """
    since = head.asked_at + gap(head.priority, spacing)
    return max(since, due[head.priority]) if head.priority in due else since


def order(
    waiting: Iterable[Waiting], due: Mapping[str, dt.datetime], now: dt.datetime, spacing: dt.timedelta
) -> list[Waiting]:
    """The waiting requests in the order of service, if no other request comes.

    First the heads of priorities whose floor is overdue, the longest overdue before others; then by priority, oldest first. `due`:
    what `due_after` returned for each priority.
    """
    queue = sorted(waiting, key=lambda request: (_RANK[request.priority], request.number))
    heads: dict[str, Waiting] = {}
    for request in queue:
        heads.setdefault(request.priority, request)
    since = {head: overdue_at(head, due, spacing) for head in heads.values()}
    first = sorted((head for head in since if since[head] <= now), key=lambda head: (since[head], _RANK[head.priority]))
    return first + [request for request in queue if request not in first]
