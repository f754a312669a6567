"""Decisions about holds: approve, decline, reopen, or check again with other thresholds.

The first decision stands, wherever it was taken. A later answer does nothing: it is reported and recorded. Only `reopen` undoes a decision.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.decisions.ledger import hold_expiry, holds
from shelfsync.decisions.ledger.holds import known
from shelfsync.decisions.state import HoldState, Place
from shelfsync.decisions.steps.late_answer import Given, late_line, late_reason, one_line
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold

log = logging.getLogger(__name__)


def decide(
    context: Context,
    hold_id: int,
    *,
    approve: bool,
    who: str,
    place: Place,
    why: str | None = None,
    shown: str | None = None,
    asked_by: str | None = None,
) -> dict[str, Any]:
    """Approves or declines an open hold, or declines an expired one: `{"hold", "state", "decided", "line"}`.

    `decided` is False if the hold did not change; the line reports why. `shown`: the mark of the hold that the person saw. `asked_by`: the
    run of Airflow whose question the person answers.
    """
    given = Given(HoldState.APPROVED if approve else HoldState.DECLINED, who, place, why, shown, asked_by)
    with context.engine.begin() as connection:
        hold = locked(connection, hold_id, given)
        late = late_reason(context, connection, hold, given)
        if late is None:
            write_decision(context, connection, hold, given)
        hold = known(connection, hold_id)
    return result_of(hold, late)


def reopen(context: Context, hold_id: int, *, who: str, place: Place, why: str | None) -> dict[str, Any]:
    """Opens a declined or expired hold again, so that a person may decide it anew; returns the same as `decide`.

    A DataError: no reason was given. What is approved is sent, so it cannot be reopened.
    """
    why = one_line(why)
    if why is None:
        raise DataError(f"hold {hold_id}: reopening needs a reason; `shelfsync holds reopen {hold_id} --reason TEXT`")
    with context.engine.begin() as connection:
        hours = context.settings.guards.hold_hours
        done = holds.reopen(connection, hold_id, who=one_line(who) or "unknown", place=place, why=why, hours=hours)
        hold = known(connection, hold_id)
    line = f"{hold.named} is open again; decide it by {display.instant(hold.expires_at)}"
    if not done:
        line = f"{hold.named} is open; nothing was done"
    if not done and not hold.may_be_approved:
        line = late_line(context, hold)
    log.warning("holds: %s", line)
    return {"hold": hold_id, "state": hold.state, "decided": done, "line": line}


def locked(connection: Connection, hold_id: int, given: Given) -> Hold:
    """The hold that an answer is about, locked. An approval finds it expired if its time is over, though no run has visited it since."""
    if given.state == HoldState.APPROVED:
        hold_expiry.expire(connection, hold_id=hold_id)
    return known(connection, hold_id, lock=True)


def write_decision(
    context: Context, connection: Connection, hold: Hold, given: Given, *, thresholds: dict[str, Any] | None = None
) -> None:
    """Writes a person's decision about an open hold, which this transaction has locked."""
    who, why = one_line(given.who) or "unknown", one_line(given.why)
    done = holds.decide(
        connection, hold.hold_id, given.state, who=who, place=given.place, why=why, thresholds=thresholds
    )
    assert done, "the hold is locked and undecided"
    if given.state == HoldState.APPROVED:
        context.subjects[hold.subject].approved(connection, hold)


def result_of(hold: Hold, late: str | None) -> dict[str, Any]:
    """The result of a decision: `{"hold", "state", "decided", "line"}`. `late`: why nothing was done."""
    line = late or f"{hold.named} is {hold.state} by {hold.decided_by}"
    log.warning("holds: %s", line)
    return {"hold": hold.hold_id, "state": hold.state, "decided": late is None, "line": line}


def send(context: Context, hold_ids: Iterable[int]) -> dict[str, Any]:
    """Sends approved holds, each as its subject does: `{"released": [...], "lines": [...]}`."""
    with context.engine.connect() as connection:
        found = [known(connection, hold_id) for hold_id in hold_ids]
    sent: dict[str, Any] = {"released": [], "lines": []}
    for name in sorted({hold.subject for hold in found}):
        of_subject = context.subjects[name].send(context, [hold.hold_id for hold in found if hold.subject == name])
        sent = {part: sent[part] + of_subject[part] for part in sent}
    return sent


def release(context: Context, hold_id: int) -> dict[str, Any]:
    """Plans what was approved: `{"run", "vendors", "label", "line"}`. No vendors: there is nothing to deliver now."""
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
    return context.subjects[hold.subject].release(context, hold_id)
