"""An answer that comes after the decision, or to another question than the hold is now: it does nothing, and the hold's history keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.decisions.hold import becomes, superseded
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.ledger.holds import known
from shelfsync.decisions.state import HoldState, Place

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold


@dataclass(frozen=True)
class Given:
    """A person's answer, and what it was given to."""

    state: HoldState
    who: str
    place: Place
    why: str | None
    shown: str | None
    asked_by: str | None


def late_reason(context: Context, connection: Connection, hold: Hold, given: Given) -> str | None:
    """Why an answer is about something else than the hold is now; None: it is not. The hold's history keeps the late answer."""
    acts = holds.decisions_of(connection, hold.hold_id)
    if not hold.may_become(given.state):
        late = late_line(context, hold)
    elif given.shown not in {None, hold.mark} or given.asked_by not in {None, hold.asked_by}:
        late = f"{hold.named} is another one than the answer is about{last_reopening(acts)}; nothing was done"
    else:
        return None
    who, why = one_line(given.who) or "unknown", one_line(given.why)
    repeated = acts and (acts[-1]["state"], acts[-1]["decided_by"], acts[-1]["why"]) == (given.state, who, why)
    if not repeated:  # a task that is tried again, a double click
        holds.add_decision(connection, hold.hold_id, given.state, who=who, place=given.place, why=why, ignored=late)
    return late


def last_reopening(acts: list[dict[str, Any]]) -> str:
    """The last reopening, for the line about an answer that was given before it."""
    reopened = [act for act in acts if act["state"] == HoldState.OPEN]
    if not reopened:
        return ""
    return f": {reopened[-1]['decided_by']} reopened it at {display.instant(reopened[-1]['decided_at'])}"


def why_closed(context: Context, hold_id: int) -> str:
    """Why a question about a hold is closed without an answer."""
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
        acts = holds.decisions_of(connection, hold_id)
    if hold.may_be_approved:
        return f"{hold.named}: a newer question asks about it{last_reopening(acts)}"
    return late_line(context, hold)


def late_line(context: Context, hold: Hold) -> str:
    """What is reported to a person whose answer comes after the decision: who decided what and when, and what can be done."""
    by = f" by {hold.decided_by}" if hold.decided_by else ""
    at = f" at {display.instant(hold.decided_at)}" if hold.decided_at else ""
    if hold.superseded_by is not None and hold.state != HoldState.APPROVED:
        return f"{superseded(hold)}; nothing was done"
    if hold.state == HoldState.APPROVED:
        shown = f". {context.subjects[hold.subject].sent_shown(hold)}" if hold.released_at else ""
        return f"{hold.named} is {hold.state}{by}{at} already, and {becomes(hold)}; nothing was done{shown}"
    again = f". `shelfsync holds reopen {hold.hold_id} --reason TEXT` opens it again" if hold.may_be_reopened else ""
    return f"{hold.named} is {hold.state}{by}{at}; nothing was done{again}"


def one_line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:500] or None
