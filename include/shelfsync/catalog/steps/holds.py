"""Decisions about holds: approve, decline, or check again with other thresholds. Approved rows are planned to be sent."""

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

    from shelfsync.catalog.ledger.holds import Found, Hold
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.settings import GuardSettings

log = logging.getLogger(__name__)


def decide(context: Context, hold_id: int, *, approve: bool, who: str, why: str | None = None) -> dict[str, Any]:
    """Approves or declines an open or expired hold, or approves a declined one: `{"hold", "state", "decided", "line"}`.

    `decided` is False if the hold did not change; the line reports why.
    """
    with context.engine.begin() as connection:
        hold = _known(connection, hold_id)
        if hold.may_be_approved and hold.state != HoldState.OPEN and (approve or hold.state == HoldState.EXPIRED):
            holds.reopen(connection, hold_id)  # the last decision counts
        done = _decided(connection, hold, approve=approve, who=who, why=why)
        hold = _known(connection, hold_id)
    return _decision(hold, done=done)


def expire(context: Context, hold_id: int, *, who: str) -> dict[str, Any]:
    """Expires a hold without a decision in time; returns the same as `decide`. Its rows stay held, as if it was declined."""
    with context.engine.begin() as connection:
        done = holds.decide(connection, hold_id, HoldState.EXPIRED, who=who, why="no decision in time")
        hold = _known(connection, hold_id)
    return {"hold": hold_id, "state": hold.state, "decided": done, "line": _why_not(hold)}


def reconsider(
    context: Context, hold_id: int, thresholds: dict[str, Any], *, who: str, why: str | None = None
) -> dict[str, Any]:
    """Applies the hold's rule once with other thresholds. Rows that it no longer holds are approved; the rest stays held.

    The rest becomes a separate hold, declined by the same person. A declined hold may be checked again too. A DataError describes
    wrong thresholds; then nothing is decided.
    """
    hold, row, limits = _with_thresholds(context, hold_id, thresholds)
    if row is None:
        return _decision(hold, done=False)
    let, rest = _parted(context, hold, row, limits)
    used = _used(hold, limits)
    with context.engine.begin() as connection:
        vendors.lock(connection, hold.vendor)  # first: the same lock order as renewing and releasing holds
        now = holds.read(connection, hold_id, lock=True)
        assert now is not None
        as_seen = now.rows_path == hold.rows_path
        if now.state != hold.state or now.superseded_by is not None or not as_seen:
            done = False  # the hold has changed since it was read
        else:
            if now.state != HoldState.OPEN:
                holds.reopen(connection, hold_id)
            if let is not None:
                holds.narrow(connection, hold_id, rows_path=let.path, identity=let.identity, rows=let.rows)
                for one in rest:
                    _add_declined(connection, now, one, hours=context.settings.guards.hold_hours, who=who)
            done = _decided(connection, now, approve=let is not None, who=who, why=why, thresholds=used)
        now = _known(connection, hold_id)
    if now.state == hold.state and not (done or as_seen):
        # new products have sold since: check the newer quantities
        return reconsider(context, hold_id, thresholds, who=who, why=why)
    return _decision(now, done=done)


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
    from shelfsync.catalog.decision import identity, without_held
    from shelfsync.catalog.guard import guard as pure

    case = dataclasses.replace(read_case(context, row, row.delta_path or "")[0], limits=limits)
    held = context.lake.read_table(hold.rows_path)
    passing = [rows for _, rows in approved_rows(context, hold.vendor)]
    verdict = pure(case, approved=[*passing, without_held(case.delta, held)], only=hold.rule)
    let = _without(held, {sku for one in verdict.held_changes for sku in one.rows["sku"].to_pylist()})
    if let.num_rows == 0:
        return None, []
    path = context.lake.write_table("hold", hold.vendor, let)
    return _Let(path, identity(let), let.num_rows), written(context, case, verdict.held_changes)


def _add_declined(connection: Connection, hold: Hold, rest: Found, *, hours: float, who: str) -> None:
    """Adds the changes that a person's thresholds still hold as a declined hold."""
    number = holds.add(connection, hold.vendor, hold.run_id, hold.generation, rest, hours)
    holds.decide(
        connection, number, HoldState.DECLINED, who=_line(who) or "unknown", why=f"left by hold {hold.hold_id}"
    )


def _decided(
    connection: Connection,
    hold: Hold,
    *,
    approve: bool,
    who: str,
    why: str | None,
    thresholds: dict[str, Any] | None = None,
) -> bool:
    """Writes a person's decision about an open hold; False when it is no longer open."""
    state = HoldState.APPROVED if approve else HoldState.DECLINED
    who, why = _line(who) or "unknown", _line(why)
    done = holds.decide(connection, hold.hold_id, state, who=who, why=why, thresholds=thresholds)
    if done and approve and hold.rule in FEED_RULES:
        extracts.trust(connection, hold.vendor, hold.generation)
    return done


def _decision(hold: Hold, *, done: bool) -> dict[str, Any]:
    """The result of a decision: `{"hold", "state", "decided", "line"}`."""
    line = f"hold {hold.hold_id} ({hold.label}) is {hold.state} by {hold.decided_by}" if done else _why_not(hold)
    log.warning("holds: %s", line)
    return {"hold": hold.hold_id, "state": hold.state, "decided": done, "line": line}


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
    from shelfsync.catalog.item import with_active_if_single
    from shelfsync.catalog.steps.batch import pieces
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


def _known(connection: Connection, hold_id: int) -> Hold:
    found = holds.read(connection, hold_id)
    if found is None:
        raise DataError(f"holds: there is no hold {hold_id}; `shelfsync holds list` shows them")
    return found


def _line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:500] or None
