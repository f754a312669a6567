"""Decisions about holds: approve, decline, reopen, or check again with other thresholds.

The first decision stands, wherever it was taken. A later answer does nothing: it is reported and recorded. Only `reopen` undoes a decision.
"""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.decisions.hold import becomes, superseded
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HoldState, Place
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Found, Hold
    from shelfsync.decisions.subject import Divided

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
    given = _Given(HoldState.APPROVED if approve else HoldState.DECLINED, who, place, why, shown, asked_by)
    with context.engine.begin() as connection:
        hold = _locked(connection, hold_id, given)
        late = _late(context, connection, hold, given)
        if late is None:
            _decided(context, connection, hold, given)
        hold = known(connection, hold_id)
    return _decision(hold, late)


def reopen(context: Context, hold_id: int, *, who: str, place: Place, why: str | None) -> dict[str, Any]:
    """Opens a declined or expired hold again, so that a person may decide it anew; returns the same as `decide`.

    A DataError: no reason was given. What is approved is sent, so it cannot be reopened.
    """
    why = _line(why)
    if why is None:
        raise DataError(f"hold {hold_id}: reopening needs a reason; `shelfsync holds reopen {hold_id} --reason TEXT`")
    with context.engine.begin() as connection:
        hours = context.settings.guards.hold_hours
        done = holds.reopen(connection, hold_id, who=_line(who) or "unknown", place=place, why=why, hours=hours)
        hold = known(connection, hold_id)
    line = f"{hold.named} is open again; decide it by {display.instant(hold.expires_at)}"
    if not done:
        line = f"{hold.named} is open; nothing was done"
    if not done and not hold.may_be_approved:
        line = late_line(context, hold)
    log.warning("holds: %s", line)
    return {"hold": hold_id, "state": hold.state, "decided": done, "line": line}


def reconsider(
    context: Context,
    hold_id: int,
    thresholds: dict[str, Any],
    *,
    who: str,
    place: Place,
    why: str | None = None,
    shown: str | None = None,
    asked_by: str | None = None,
) -> dict[str, Any]:
    """Applies the hold's rule once with other thresholds. Rows that it no longer holds are approved; the rest stays held.

    The rest becomes a separate hold, declined by the same person. `shown` and `asked_by` as for `decide`. A DataError describes wrong
    thresholds; then nothing is decided.
    """
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
    given = _Given(HoldState.APPROVED, who, place, why, shown, asked_by)
    divided = _divided(context, hold, thresholds)
    if divided is None:
        return _not_checked(context, hold_id, given)
    some = divided.released.num_rows > 0
    path = context.lake.write_table("hold", hold.vendor, divided.released) if some else ""
    given = dataclasses.replace(given, state=HoldState.APPROVED if some else HoldState.DECLINED)
    with context.engine.begin() as connection:
        context.subjects[hold.subject].lock(connection, hold)  # first: the same order as renewing and releasing holds
        now = _locked(connection, hold_id, given)
        late = _late(context, connection, now, given)
        as_seen = now.rows_path == hold.rows_path
        if late is None and as_seen:
            if some:
                rows = divided.released.num_rows
                holds.narrow(connection, hold_id, rows_path=path, identity=divided.identity, rows=rows)
                for one in divided.rest:
                    _add_declined(context, connection, now, one, given)
            _decided(context, connection, now, given, thresholds=divided.used)
        now = known(connection, hold_id)
    if late is None and not as_seen:  # new products have sold since: check the newer quantities
        return reconsider(context, hold_id, thresholds, who=who, place=place, why=why, shown=shown, asked_by=asked_by)
    return _decision(now, late)


def _not_checked(context: Context, hold_id: int, given: _Given) -> dict[str, Any]:
    """The result for a hold whose rule cannot be applied once more: it is decided, or the files of its run are gone."""
    with context.engine.begin() as connection:
        hold = _locked(connection, hold_id, given)
        gone = f"{hold.named}: the delta of run {hold.run_id} is no longer kept; nothing was done"
        late = _late(context, connection, hold, given) or gone
    return _decision(hold, late)


def check_thresholds(context: Context, hold_ids: Iterable[int], thresholds: dict[str, Any]) -> None:
    """Raises the DataError of the first hold for which `reconsider` would reject these thresholds; so several are decided all or none."""
    for hold_id in hold_ids:
        with context.engine.connect() as connection:
            hold = known(connection, hold_id)
        _divided(context, hold, thresholds)


def need_thresholds(hold: Hold, thresholds: dict[str, Any] | None) -> None:
    """A DataError if a person's thresholds are none at all. None: the decision is about the whole hold."""
    if thresholds is not None and not thresholds:
        raise DataError(
            f"hold {hold.hold_id}: no threshold was given, so nothing was decided; it has {hold.thresholds}"
        )


def need_other_thresholds(hold: Hold, used: dict[str, Any]) -> None:
    """A DataError if the thresholds in full are those that hold it already."""
    if used == hold.thresholds:
        raise DataError(
            f"hold {hold.hold_id}: these thresholds are the present ones, so nothing was decided; give others"
        )


def _divided(context: Context, hold: Hold, thresholds: dict[str, Any]) -> Divided | None:
    """What these thresholds make of a hold. None: it can no longer be approved, or checked."""
    if not hold.may_be_approved:
        return None
    need_thresholds(hold, thresholds)
    return context.subjects[hold.subject].divide(context, hold, thresholds)


def _add_declined(context: Context, connection: Connection, hold: Hold, rest: Found, given: _Given) -> None:
    """Adds the changes that a person's thresholds still hold as a declined hold."""
    hours = context.settings.guards.hold_hours
    number = holds.add(connection, hold.subject, rest, run_id=hold.run_id, generation=hold.generation, hours=hours)
    who, why = _line(given.who) or "unknown", f"left by hold {hold.hold_id}"
    holds.decide(connection, number, HoldState.DECLINED, who=who, place=given.place, why=why)


@dataclass(frozen=True)
class _Given:
    """A person's answer, and what it was given to."""

    state: HoldState
    who: str
    place: Place
    why: str | None
    shown: str | None
    asked_by: str | None


def _locked(connection: Connection, hold_id: int, given: _Given) -> Hold:
    """The hold that an answer is about, locked. An approval finds it expired if its time is over, though no run has visited it since."""
    if given.state == HoldState.APPROVED:
        holds.expire(connection, hold_id=hold_id)
    return known(connection, hold_id, lock=True)


def _decided(
    context: Context, connection: Connection, hold: Hold, given: _Given, *, thresholds: dict[str, Any] | None = None
) -> None:
    """Writes a person's decision about an open hold, which this transaction has locked."""
    who, why = _line(given.who) or "unknown", _line(given.why)
    done = holds.decide(
        connection, hold.hold_id, given.state, who=who, place=given.place, why=why, thresholds=thresholds
    )
    assert done, "the hold is locked and undecided"
    if given.state == HoldState.APPROVED:
        context.subjects[hold.subject].approved(connection, hold)


def _late(context: Context, connection: Connection, hold: Hold, given: _Given) -> str | None:
    """Why an answer is about something else than the hold is now; None: it is not. The hold's history keeps the late answer."""
    acts = holds.decisions_of(connection, hold.hold_id)
    if not hold.may_become(given.state):
        late = late_line(context, hold)
    elif given.shown not in {None, hold.mark} or given.asked_by not in {None, hold.asked_by}:
        late = f"{hold.named} is another one than the answer is about{_last(acts)}; nothing was done"
    else:
        return None
    who, why = _line(given.who) or "unknown", _line(given.why)
    repeated = acts and (acts[-1]["state"], acts[-1]["decided_by"], acts[-1]["why"]) == (given.state, who, why)
    if not repeated:  # a task that is tried again, a double click
        holds.add_decision(connection, hold.hold_id, given.state, who=who, place=given.place, why=why, ignored=late)
    return late


def _last(acts: list[dict[str, Any]]) -> str:
    """The last reopening, for the line about an answer that was given before it."""
    reopened = [act for act in acts if act["state"] == HoldState.OPEN]
    if not reopened:
        return ""
    return f": {reopened[-1]['decided_by']} reopened it at {display.instant(reopened[-1]['decided_at'])}"


def _decision(hold: Hold, late: str | None) -> dict[str, Any]:
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


def why_closed(context: Context, hold_id: int) -> str:
    """Why a question about a hold is closed without an answer."""
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
        acts = holds.decisions_of(connection, hold_id)
    if hold.may_be_approved:
        return f"{hold.named}: a newer question asks about it{_last(acts)}"
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


def known(connection: Connection, hold_id: int, *, lock: bool = False) -> Hold:
    """The hold of this number; a DataError: there is none."""
    found = holds.read(connection, hold_id, lock=lock)
    if found is None:
        raise DataError(f"holds: there is no hold {hold_id}; `shelfsync holds list` shows them")
    return found


def _line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:500] or None
