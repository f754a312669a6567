"""Which of the waiting requests goes next: by priority, whose floor is overdue before others, and the chains in turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.platform.rate_limit.priorities import RANK, gap

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits for a slot. Numbers grow with time: within a priority the lowest of a chain goes first."""

    number: int
    priority: str
    asked_at: dt.datetime
    chain: str = ""


def overdue_at(oldest: Waiting, due: Mapping[str, dt.datetime], spacing: dt.timedelta) -> dt.datetime:
    """When the floor of a priority is overdue whose oldest request is this one.

    A priority that was idle has no old claims: it is a gap after its first request at the earliest.
    """
    since = oldest.asked_at + gap(oldest.priority, spacing)
    return max(since, due[oldest.priority]) if oldest.priority in due else since


def order(
    waiting: Iterable[Waiting],
    due: Mapping[str, dt.datetime],
    now: dt.datetime,
    spacing: dt.timedelta,
    served: Mapping[tuple[str, str], dt.datetime] | None = None,
) -> list[Waiting]:
    """The waiting requests in the order of service, if no other request comes.

    First the heads of priorities whose floor is overdue, the longest overdue before others; then by priority, and within it the chains take
    turns, each with its oldest request. `due`: what `due_after` returned for each priority; `served`: the last slot of each priority
    and chain.
    """
    queue = _in_turns(waiting, served or {})
    heads: dict[str, Waiting] = {}
    oldest: dict[str, Waiting] = {}
    for request in queue:
        heads.setdefault(request.priority, request)
        oldest[request.priority] = min(request, oldest.get(request.priority, request), key=_number)
    since = {head: overdue_at(oldest[priority], due, spacing) for priority, head in heads.items()}
    first = sorted((head for head in since if since[head] <= now), key=lambda head: (since[head], RANK[head.priority]))
    return first + [request for request in queue if request not in first]


def _number(request: Waiting) -> int:
    return request.number


def _in_turns(waiting: Iterable[Waiting], served: Mapping[tuple[str, str], dt.datetime]) -> list[Waiting]:
    """By priority; within it one request of each chain in each round, the chain first that was served the longest time ago."""
    rounds: dict[tuple[str, str], int] = {}
    places = {}
    for request in sorted(waiting, key=_number):
        its = (request.priority, request.chain)
        rounds[its] = rounds.get(its, -1) + 1
        last = served[its].timestamp() if its in served else float("-inf")
        places[request] = (RANK[request.priority], rounds[its], last, request.number)
    return sorted(places, key=places.__getitem__)
