"""When the next request may be sent, and which: slots at equal distances, on the database's clock, and priorities by the cost of waiting.

Two rules, the stricter binds:
- Slots are `(window + jitter) / limit` apart. `limit + 1` of them span at least `window + jitter`, so requests that arrive less
  than `jitter` after their slots are never more than `limit` in a window. This is what paces: it costs the jitter's share,
  1.2 s of 61.2, and 98 % of the allowance is used whenever work waits.
- A request may arrive much later than its slot: a process that starts, a busy machine, a slow network. By when it had arrived
  at the latest is known once its answer is there. A slot is given only when fewer than `limit` requests can have arrived in
  the window before it. This holds without any assumption on speed, as long as a request that was never answered arrived
  within `ARRIVAL_S_MAX` or not at all.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ARRIVAL_S_MAX = 30.0
"""A request without an answer has arrived after this, or never will: the client's own timeout of a connection."""
LOOKAHEAD = dt.timedelta(seconds=0.5)
"""How long before a slot it may be promised to a request. Hides round trips and late wake-ups; a more urgent request that
comes in between waits one slot more, and a holder that dies loses one."""


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `limit` requests in any `window_s`; `jitter_s`: how late each may be without slowing the next ones down."""

    limit: int
    window_s: float = 60.0
    jitter_s: float = 1.2

    @property
    def spacing(self) -> dt.timedelta:
        """The distance of two slots, rounded up to the microsecond, never down."""
        return dt.timedelta(microseconds=math.ceil((self.window_s + self.jitter_s) * 1_000_000 / self.limit))

    @property
    def memory(self) -> dt.timedelta:
        """How long a request that arrived in time matters to those after it."""
        return dt.timedelta(seconds=self.window_s + self.jitter_s)

    @property
    def late_s_max(self) -> float:
        """A holder that wakes up later than this after its slot has lost it."""
        return self.jitter_s / 2


def next_slot(
    rate: Rate,
    now: dt.datetime,
    *,
    free_at: dt.datetime | None,
    paused_until: dt.datetime | None,
    nth_arrival: dt.datetime | None,
) -> dt.datetime:
    """The earliest slot that no request holds.

    `free_at`: one spacing after the last slot given. `nth_arrival`: of the instants by which each request had arrived at the
    latest, the `limit`-th from the end; a window after it, that request is out of the way.
    """
    bounds = [now]
    if free_at is not None:
        bounds.append(free_at)
    if paused_until is not None:
        bounds.append(paused_until)
    if nth_arrival is not None:
        bounds.append(nth_arrival + dt.timedelta(seconds=rate.window_s))
    return max(bounds)


def clock_was_set(elapsed: dt.timedelta, *, least_s: float, most_s: float) -> bool:
    """True when the database's clock went on by something else than the time that passed.

    `least_s`, `most_s`: how long it was at least and at most, because each reading came at some instant of its round trip: however
    slow that was, or this process, it is no setting. Nor is slewing (up to 0.05 %).
    """
    slew_s = 0.5 + 0.001 * max(most_s, 0.0)
    return not least_s - slew_s <= elapsed.total_seconds() <= most_s + slew_s


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
