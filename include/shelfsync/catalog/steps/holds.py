"""Decisions about holds: approve, decline, or check again with other thresholds. Approved rows are planned to be sent.

The first decision stands, wherever it was taken. A later answer does nothing: it is reported and recorded. Only `reopen` undoes a decision.
"""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import batches, extracts, holds, vendor_runs, vendors
from shelfsync.catalog.state import HoldState, VendorState
from shelfsync.catalog.steps.guard import FEED_RULES, approved_rows, read_case, written
from shelfsync.errors import DataError
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.guard_case import Case
    from shelfsync.catalog.guards import HeldChanges
    from shelfsync.catalog.ledger.holds import Found, Hold
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.settings import GuardSettings

log = logging.getLogger(__name__)


def decide(
    context: Context,
    hold_id: int,
    *,
    approve: bool,
    who: str,
    why: str | None = None,
    shown: str | None = None,
    asked_by: str | None = None,
) -> dict[str, Any]:
    """Approves or declines an open hold, or declines an expired one: `{"hold", "state", "decided", "line"}`.

    `decided` is False if the hold did not change; the line reports why. `shown`: the mark of the hold that the person saw. `asked_by`: the
    run of Airflow whose question the person answers.
    """
    given = _Given(HoldState.APPROVED if approve else HoldState.DECLINED, who, why, shown, asked_by)
    with context.engine.begin() as connection:
        hold = _known(connection, hold_id, lock=True)
        late = _late(connection, hold, given)
        if late is None:
            _decided(connection, hold, given)
        hold = _known(connection, hold_id)
    return _decision(hold, late)


def reopen(context: Context, hold_id: int, *, who: str, why: str | None) -> dict[str, Any]:
    """Opens a declined or expired hold again, so that a person may decide it anew; returns the same as `decide`.

    A DataError: no reason was given. What is approved is sent, so it cannot be reopened.
    """
    why = _line(why)
    if why is None:
        raise DataError(f"hold {hold_id}: reopening needs a reason; `shelfsync holds reopen {hold_id} --reason TEXT`")
    with context.engine.begin() as connection:
        hours = context.settings.guards.hold_hours
        done = holds.reopen(connection, hold_id, who=_line(who) or "unknown", why=why, hours=hours)
        hold = _known(connection, hold_id)
    line = f"hold {hold_id} ({hold.label}) is open again; decide it by {hold.expires_at:%Y-%m-%d %H:%M:%S %Z}"
    if not done:
        line = f"hold {hold_id} ({hold.label}) is open; nothing was done"
    if not done and not hold.may_be_approved:
        line = late_line(hold)
    log.warning("holds: %s", line)
    return {"hold": hold_id, "state": hold.state, "decided": done, "line": line}


def expire(context: Context, hold_id: int, *, who: str) -> dict[str, Any]:
    """Expires a hold without a decision in time; returns the same as `decide`. Its rows stay held, as if it was declined."""
    with context.engine.begin() as connection:
        done = holds.decide(connection, hold_id, HoldState.EXPIRED, who=who, why="no decision in time")
        hold = _known(connection, hold_id)
    line = f"hold {hold_id} ({hold.label}) is expired by {who}; nothing of it is sent" if done else late_line(hold)
    return {"hold": hold_id, "state": hold.state, "decided": done, "line": line}


def reconsider(
    context: Context,
    hold_id: int,
    thresholds: dict[str, Any],
    *,
    who: str,
    why: str | None = None,
    shown: str | None = None,
    asked_by: str | None = None,
) -> dict[str, Any]:
    """Applies the hold's rule once with other thresholds. Rows that it no longer holds are approved; the rest stays held.

    The rest becomes a separate hold, declined by the same person. `shown` and `asked_by` as for `decide`. A DataError describes wrong
    thresholds; then nothing is decided.
    """
    hold, row, limits = _with_thresholds(context, hold_id, thresholds)
    given = _Given(HoldState.APPROVED, who, why, shown, asked_by)
    if row is None:
        return _not_checked(context, hold_id, given)
    let, rest = _parted(context, hold, row, limits)
    given = dataclasses.replace(given, state=HoldState.DECLINED if let is None else HoldState.APPROVED)
    with context.engine.begin() as connection:
        vendors.lock(connection, hold.vendor)  # first: the same lock order as renewing and releasing holds
        now = _known(connection, hold_id, lock=True)
        late = _late(connection, now, given)
        as_seen = now.rows_path == hold.rows_path
        if late is None and as_seen:
            if let is not None:
                holds.narrow(connection, hold_id, rows_path=let.path, identity=let.identity, rows=let.rows)
                for one in rest:
                    _add_declined(connection, now, one, hours=context.settings.guards.hold_hours, who=who)
            _decided(connection, now, given, thresholds=_used(hold, limits))
        now = _known(connection, hold_id)
    if late is None and not as_seen:  # new products have sold since: check the newer quantities
        return reconsider(context, hold_id, thresholds, who=who, why=why, shown=shown, asked_by=asked_by)
    return _decision(now, late)


def _not_checked(context: Context, hold_id: int, given: _Given) -> dict[str, Any]:
    """The result for a hold whose rule cannot be applied once more: it is decided, or the files of its run are gone."""
    with context.engine.begin() as connection:
        hold = _known(connection, hold_id, lock=True)
        gone = f"hold {hold_id} ({hold.label}): the delta of run {hold.run_id} is no longer kept; nothing was done"
        late = _late(connection, hold, given) or gone
    return _decision(hold, late)


def check_thresholds(context: Context, hold_ids: Iterable[int], thresholds: dict[str, Any]) -> None:
    """Raises the DataError of the first hold for which `reconsider` would reject these thresholds; so several are decided all or none."""
    for hold_id in hold_ids:
        _with_thresholds(context, hold_id, thresholds)


def _with_thresholds(
    context: Context, hold_id: int, thresholds: dict[str, Any]
) -> tuple[Hold, VendorRun | None, GuardSettings]:
    """The hold, its vendor's run (None: it can no longer be approved) and the guards with these thresholds for its rule."""
    guards = context.settings.guards
    with context.engine.connect() as connection:
        hold = _known(connection, hold_id)
        row = vendor_runs.read(connection, hold.run_id, hold.vendor)
    if not hold.may_be_approved or row is None or row.delta_path is None:
        return hold, None, guards
    if not thresholds:
        raise DataError(f"hold {hold_id}: no threshold was given, so nothing was decided; it has {hold.thresholds}")
    try:
        limits = guards.with_thresholds(hold.vendor, hold.category, hold.rule, thresholds)
    except ValueError as error:
        raise DataError(f"hold {hold_id}: these thresholds are invalid: {error}") from None
    if _used(hold, limits) == hold.thresholds:
        raise DataError(f"hold {hold_id}: these thresholds are the present ones, so nothing was decided; give others")
    return hold, row, limits


def _used(hold: Hold, limits: GuardSettings) -> dict[str, Any]:
    used: dict[str, Any] = limits.limit(hold.rule, hold.vendor, hold.category).model_dump()
    return used


@dataclass(frozen=True)
class _Let:
    """The rows that other thresholds release, in the lake."""

    path: str
    identity: str
    rows: int


def _parted(context: Context, hold: Hold, row: VendorRun, limits: GuardSettings) -> tuple[_Let | None, list[Found]]:
    """The rows of a hold that these thresholds release (None: none), and the changes that they still hold."""
    from shelfsync.catalog.decision import identity

    let, case, still = _checked(context, hold, row, limits)
    if let.num_rows == 0:
        return None, []
    path = context.lake.write_table("hold", hold.vendor, let)
    return _Let(path, identity(let), let.num_rows), written(context, case, still)


def let_through(context: Context, hold_id: int, thresholds: dict[str, Any]) -> Any:
    """The rows of a hold that these thresholds would release; those of the whole hold if it cannot be checked again."""
    hold, row, limits = _with_thresholds(context, hold_id, thresholds)
    return context.lake.read_table(hold.rows_path) if row is None else _checked(context, hold, row, limits)[0]


def _checked(
    context: Context, hold: Hold, row: VendorRun, limits: GuardSettings
) -> tuple[Any, Case, tuple[HeldChanges, ...]]:
    """The rows that these thresholds release, what was checked, and the changes that they still hold."""
    from shelfsync.catalog.decision import without_held
    from shelfsync.catalog.guards import apply_guards

    case = dataclasses.replace(read_case(context, row, row.delta_path or "")[0], limits=limits)
    held = context.lake.read_table(hold.rows_path)
    passing = [rows for _, rows in approved_rows(context, hold.vendor)]
    verdict = apply_guards(case, approved=[*passing, without_held(case.delta, held)], only=hold.rule)
    let = _without(held, {sku for one in verdict.held_changes for sku in one.rows["sku"].to_pylist()})
    return let, case, verdict.held_changes


def _add_declined(connection: Connection, hold: Hold, rest: Found, *, hours: float, who: str) -> None:
    """Adds the changes that a person's thresholds still hold as a declined hold."""
    number = holds.add(connection, hold.vendor, hold.run_id, hold.generation, rest, hours)
    holds.decide(
        connection, number, HoldState.DECLINED, who=_line(who) or "unknown", why=f"left by hold {hold.hold_id}"
    )


@dataclass(frozen=True)
class _Given:
    """A person's answer, and what it was given to."""

    state: HoldState
    who: str
    why: str | None
    shown: str | None
    asked_by: str | None


def _decided(connection: Connection, hold: Hold, given: _Given, *, thresholds: dict[str, Any] | None = None) -> None:
    """Writes a person's decision about an open hold, which this transaction has locked."""
    who, why = _line(given.who) or "unknown", _line(given.why)
    done = holds.decide(connection, hold.hold_id, given.state, who=who, why=why, thresholds=thresholds)
    assert done, "the hold is locked and undecided"
    if given.state == HoldState.APPROVED and hold.rule in FEED_RULES:
        extracts.trust(connection, hold.vendor, hold.generation)


def _late(connection: Connection, hold: Hold, given: _Given) -> str | None:
    """Why an answer is about something else than the hold is now; None: it is not. The hold's history keeps the late answer."""
    acts = holds.decisions_of(connection, hold.hold_id)
    if not hold.may_become(given.state):
        late = late_line(hold)
    elif given.shown not in {None, hold.mark} or given.asked_by not in {None, hold.asked_by}:
        late = (
            f"hold {hold.hold_id} ({hold.label}) is another one than the answer is about{_last(acts)}; nothing was done"
        )
    else:
        return None
    who, why = _line(given.who) or "unknown", _line(given.why)
    repeated = acts and (acts[-1]["state"], acts[-1]["decided_by"], acts[-1]["why"]) == (given.state, who, why)
    if not repeated:  # a task that is tried again, a double click
        holds.add_decision(connection, hold.hold_id, given.state, who=who, why=why, ignored=late)
    return late


def _last(acts: list[dict[str, Any]]) -> str:
    """The last reopening, for the line about an answer that was given before it."""
    reopened = [act for act in acts if act["state"] == HoldState.OPEN]
    if not reopened:
        return ""
    return f": {reopened[-1]['decided_by']} reopened it at {reopened[-1]['decided_at']:%Y-%m-%d %H:%M:%S %Z}"


def _decision(hold: Hold, late: str | None) -> dict[str, Any]:
    """The result of a decision: `{"hold", "state", "decided", "line"}`. `late`: why nothing was done."""
    line = late or f"hold {hold.hold_id} ({hold.label}) is {hold.state} by {hold.decided_by}"
    log.warning("holds: %s", line)
    return {"hold": hold.hold_id, "state": hold.state, "decided": late is None, "line": line}


def release(context: Context, hold_id: int) -> dict[str, Any]:
    """Plans the approved rows as batches of the run that holds them: `{"run", "vendors", "label", "line"}`.

    No vendors: nothing to deliver now. If a newer run has a newer extract, that run sends the approved values, if the ERP still has them.
    """
    with context.engine.connect() as connection:
        hold = _known(connection, hold_id)
        base = vendors.current_baseline(connection, hold.vendor)
    if hold.state != HoldState.APPROVED:  # the rows of an undecided hold may still change
        return _released_nothing(hold, _why_not(hold))
    pieces = _pieces(context, hold, None if base is None else base.path)
    with context.engine.begin() as connection:
        state = vendors.lock(connection, hold.vendor)
        hold = _known(connection, hold_id)
        why = _not_now(connection, hold, state)
        if why is None and hold.released_at is None:
            _plan(connection, hold, state, pieces)
    if why is not None:
        return _released_nothing(hold, why)
    planned = f"planned as {len(pieces)} requests" if hold.released_at is None else "planned before, in the requests"
    line = f"hold {hold_id} ({hold.label}): {planned} of run {hold.run_id}"
    return {"run": hold.run_id, "vendors": [hold.vendor], "label": hold.label, "line": line}


def _released_nothing(hold: Hold, why: str) -> dict[str, Any]:
    log.warning("holds: %s", why)
    return {"run": hold.run_id, "vendors": [], "label": hold.label, "line": why}


def release_waiting(context: Context) -> dict[str, str]:
    """Plans the approved holds that no process has planned, for example those approved on a page; {vendor: reason} of those that failed."""
    with context.engine.connect() as connection:
        found = holds.waiting(connection)
    failed: dict[str, str] = {}
    for hold in found:
        try:
            release(context, hold.hold_id)
        except Exception as error:
            if stops_every_job(error):
                raise
            failed[hold.vendor] = f"hold {hold.hold_id} ({hold.label}) cannot be released: {reason_of(error)}"
            log.exception("holds: %s", failed[hold.vendor])
    return failed


def _plan(connection: Connection, hold: Hold, state: vendors.Vendor, pieces: list[batches.Piece]) -> None:
    row = vendor_runs.read(connection, hold.run_id, hold.vendor)
    assert row is not None
    vendors.raise_fence(connection, hold.vendor, hold.generation)
    batches.append(
        connection,
        run_id=hold.run_id,
        vendor=hold.vendor,
        generation=hold.generation,
        base_version=state.baseline_version,
        snapshot_path=row.snapshot_path or "",
        pieces=pieces,
    )
    vendor_runs.write(
        connection,
        hold.run_id,
        hold.vendor,
        state=VendorState.OPEN,
        failed_step=None,
        error=None,
        batched_at=row.batched_at or instant(),
    )
    holds.released(connection, hold.hold_id)


def _pieces(context: Context, hold: Hold, base_path: str | None) -> list[batches.Piece]:
    from shelfsync.catalog.steps.batch import pieces
    from shelfsync.rows.item import with_active_if_single
    from shelfsync.schemas import BASELINE

    baseline = context.lake.read_or_empty(base_path, BASELINE)
    return pieces(
        context, hold.vendor, with_active_if_single(context.lake.read_table(hold.rows_path), baseline), base_path
    )


def _not_now(connection: Connection, hold: Hold, state: vendors.Vendor) -> str | None:
    if hold.state != HoldState.APPROVED:
        return _why_not(hold)
    newer = hold.superseded_by or vendor_runs.newer_on_its_way(connection, hold.vendor, hold.generation)
    if hold.released_at is None and (newer is not None or state.fence > hold.generation):
        return (
            f"hold {hold.hold_id} ({hold.label}) is approved, and run {newer} has a newer extract. If the ERP still has these"
            " values, that run or the next one sends them"
        )
    return None


def why_closed(context: Context, hold_id: int) -> str:
    """Why a question about a hold is closed without an answer."""
    with context.engine.connect() as connection:
        hold = _known(connection, hold_id)
        acts = holds.decisions_of(connection, hold_id)
    if hold.may_be_approved:
        return f"hold {hold_id} ({hold.label}): a newer question asks about it{_last(acts)}"
    return late_line(hold)


def late_line(hold: Hold) -> str:
    """What is reported to a person whose answer comes after the decision: who decided what and when, and what can be done."""
    known = f"hold {hold.hold_id} ({hold.label})"
    by = f" by {hold.decided_by}" if hold.decided_by else ""
    at = f" at {hold.decided_at:%Y-%m-%d %H:%M:%S %Z}" if hold.decided_at else ""
    if hold.superseded_by is not None and hold.state != HoldState.APPROVED:
        return f"{_why_not(hold)}; nothing was done"
    if hold.state == HoldState.APPROVED:
        sent = "its changes are sent" if hold.released_at else "the next run sends its changes"
        return (
            f"{known} is {hold.state}{by}{at} already, and {sent}; nothing was done."
            f" `shelfsync runs show {hold.run_id}` shows what was sent"
        )
    again = f". `shelfsync holds reopen {hold.hold_id} --reason TEXT` opens it again" if hold.may_be_reopened else ""
    return f"{known} is {hold.state}{by}{at}; nothing was done{again}"


def _why_not(hold: Hold) -> str:
    by = f" by {hold.decided_by}" if hold.decided_by else ""
    if hold.superseded_by is not None and hold.state != HoldState.APPROVED:
        return f"hold {hold.hold_id} ({hold.label}): superseded by the newer extract of run {hold.superseded_by}; nothing of it is sent"
    if hold.state == HoldState.APPROVED:
        return f"hold {hold.hold_id} ({hold.label}) is {hold.state}{by} already; `shelfsync runs show {hold.run_id}` shows what was sent"
    return f"hold {hold.hold_id} ({hold.label}) is {hold.state}{by}; nothing of it is sent"


def _without(rows: Any, skus: set[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return rows.filter(pc.invert(pc.is_in(rows["sku"], value_set=pa.array(sorted(skus), pa.string()))))


def _known(connection: Connection, hold_id: int, *, lock: bool = False) -> Hold:
    found = holds.read(connection, hold_id, lock=lock)
    if found is None:
        raise DataError(f"holds: there is no hold {hold_id}; `shelfsync holds list` shows them")
    return found


def _line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:500] or None
