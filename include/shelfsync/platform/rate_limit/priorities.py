"""The priorities of requests, by the cost of waiting, each with a guaranteed floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt


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

RANK = {priority.name: rank for rank, priority in enumerate(PRIORITIES)}


def known(name: str) -> str:
    """The name, if there is such a priority; ValueError otherwise."""
    if name not in RANK:
        raise ValueError(f"there is no priority {name!r}; the priorities are {', '.join(RANK)}")
    return name


def gap(name: str, spacing: dt.timedelta) -> dt.timedelta:
    """The longest distance of two slots of a priority that always has work."""
    return spacing / PRIORITIES[RANK[name]].floor


def due_after(name: str, served_at: dt.datetime, due_at: dt.datetime | None, spacing: dt.timedelta) -> dt.datetime:
    """When a priority that was served at this slot has to be served again.

    Served late, it keeps its rhythm, so that its floor holds over time; served early, because it was the dearest anyway, it
    gains no claim and owes nothing.
    """
    rhythm = gap(name, spacing)
    last = served_at if due_at is None else min(max(due_at, served_at - rhythm), served_at)
    return last + rhythm
