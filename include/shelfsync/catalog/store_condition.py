"""store_condition: the one state of a store that a person reads first, from its row of the status. The only definition, for page and command line.

The first of these that is true of a store names its condition:

| condition | true of a store |
|---|---|
| paused | an operator has paused sending to it |
| failing | its last run failed, its requests fail one after the other, or its numbers cannot be read |
| late | its oldest change waits for longer than the alert of late stores allows |
| held | a guard holds changes of it |
| at work | changes are on their way, or wait for the next run; or it was never read |
| right | none of these |
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.state import VendorState

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]
    """A vendor's row of the status."""


class Condition(StrEnum):
    """The states of a store for people, what needs a person most first."""

    FAILING = "failing"
    LATE = "late"
    HELD = "held"
    PAUSED = "paused"
    AT_WORK = "at work"
    RIGHT = "right"


BY_ITSELF = {
    Condition.FAILING: "The next run tries again by itself. Every other store goes on.",
    Condition.LATE: "shelfsync tries again with each run, and sends what differs as soon as it can.",
    Condition.HELD: "The held products keep their values until a person decides. The others go on.",
    Condition.PAUSED: "Nothing is sent to this store until a person resumes it.",
    Condition.AT_WORK: "",
    Condition.RIGHT: "",
}
"""What happens without a person."""

_UNFINISHED = frozenset({VendorState.OPEN, VendorState.BUSY, VendorState.SUPERSEDED})
"""States of a vendor in its last run that a later step or run ends by itself."""
_ENDS = {
    VendorState.ACKNOWLEDGED: "the last run has sent what changed",
    VendorState.UNCHANGED: "nothing new at the last run",
    VendorState.FAILED: "the last run failed",
}
_ON_THE_WAY = ("pending", "in_flight", "unconfirmed")


def condition(row: Row, *, late_s: float) -> Condition:
    """The first of the table above that is true."""
    if row["paused"] is not None:
        return Condition.PAUSED
    if fails(row) or row["pending"] is None:
        return Condition.FAILING
    if is_late(row, late_s=late_s):
        return Condition.LATE
    if row["held"]:
        return Condition.HELD
    if shows_the_erp(row):
        return Condition.RIGHT
    return Condition.AT_WORK


def shows_the_erp(row: Row) -> bool:
    """Whether every value of the last reading that can be sent has arrived. What the platform rejects is no such value."""
    read = row["last_state"] is not None and row["acknowledged_at"] is not None
    known = read and row["pending"] is not None and not fails(row)
    return known and not row["held"] and not any(row[name] for name in _ON_THE_WAY)


def is_late(row: Row, *, late_s: float) -> bool:
    """Whether a change waits too long; a paused store waits because a person has said so."""
    oldest = row["oldest_unacknowledged_s"]
    return oldest is not None and oldest > late_s and row["paused"] is None


def fails(row: Row) -> bool:
    """Whether its last run ended with an error. Work in progress is none, unless its requests fail repeatedly."""
    if (row["last_state"] or "") in _UNFINISHED:
        return bool(row["consecutive_failures"] and row["error"])
    return bool(row["error"])


def words(row: Row) -> str:
    """What its last run came to, for a person."""
    state = row["last_state"]
    if state is None:
        return "not read yet"
    if state == VendorState.UNCHANGED and row["held"]:
        return "nothing but held changes at the last run"
    if state not in _UNFINISHED or fails(row):
        return _ENDS.get(state, str(state))
    if row["at_work"]:
        return "first sync in progress" if row["acknowledged_at"] is None else "in progress"
    return "not finished, and no run is at work with it" if state == VendorState.OPEN else "waits for the next run"
