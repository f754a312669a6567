"""Holds decided: approved, rejected, looked at again with other thresholds; and what was approved is planned to be sent."""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.errors import DataError
from shelfsync.flow.guard import FEED_RULES, approved_rows, read_case, written
from shelfsync.ledger import batches, feeds, holds, vendor_runs, vendors
from shelfsync.ledger.instant import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.holds import Found, Hold
    from shelfsync.ledger.vendor_runs import VendorRun
    from shelfsync.settings import GuardSettings

log = logging.getLogger(__name__)


def decide(parts: Parts, hold_id: int, *, approve: bool, who: str, why: str | None = None) -> dict[str, Any]:
    """Approves or rejects an open hold: `{"hold", "state", "line"}`. One that is decided already stays as it is, and the line says so."""
    with parts.engine.begin() as connection:
        hold = _known(connection, hold_id)
        if approve and hold.state != holds.OPEN and hold.may_be_approved:
            holds.reopen(connection, hold_id)  # who decides last knows more
        done = _decided(connection, hold, approve=approve, who=who, why=why)
        hold = _known(connection, hold_id)
    return _told(hold, done=done)


def expire(parts: Parts, hold_id: int, *, who: str) -> dict[str, Any]:
    """Nobody decided in time: the rows stay held, as after a rejection."""
    with parts.engine.begin() as connection:
        done = holds.decide(connection, hold_id, holds.EXPIRED, who=who, why="nobody decided in time")
        hold = _known(connection, hold_id)
    return {"hold": hold_id, "state": hold.state, "decided": done, "line": _why_not(hold)}


def reconsider(
    parts: Parts, hold_id: int, thresholds: dict[str, Any], *, who: str, why: str | None = None
) -> dict[str, Any]:
    """Asks the hold's rule again with other thresholds, for this once: what it no longer holds is approved, the rest stays held.

    The rest is a hold of its own, rejected by the same person. Like an approval, it may come after a rejection. A DataError says
    what is wrong with the thresholds; then nothing is decided.
    """
    with parts.engine.connect() as connection:
        hold = _known(connection, hold_id)
        row = vendor_runs.read(connection, hold.run_id, hold.vendor)
    if not hold.may_be_approved or row is None or row.delta_path is None:
        return _told(hold, done=False)
    if not thresholds:
        raise DataError(f"hold {hold_id}: no threshold was given, so nothing was decided; it has {hold.thresholds}")
    try:
        limits = parts.settings.guards.with_thresholds(hold.vendor, hold.category, hold.rule, thresholds)
    except ValueError as error:
        raise DataError(f"hold {hold_id}: these thresholds are none: {error}") from None
    let, rest = _parted(parts, hold, row, row.delta_path, limits)
    used = limits.limit(hold.rule, hold.vendor, hold.category).model_dump()
    if used == hold.thresholds:
        raise DataError(f"hold {hold_id}: it is held by these very thresholds, so nothing was decided; give others")
    decided = {"who": who, "why": why, "thresholds": used}
    with parts.engine.begin() as connection:
        vendors.lock(connection, hold.vendor)  # first, as whoever renews or releases holds does
        now = holds.read(connection, hold_id, lock=True)
        assert now is not None
        as_seen = now.rows_path == hold.rows_path
        if now.state != hold.state or now.superseded_by is not None or not as_seen:
            done = False  # what was looked at is not what would be decided
        else:
            if now.state != holds.OPEN:
                holds.reopen(connection, hold_id)
            if let is not None:
                holds.narrow(connection, hold_id, rows_path=let.path, identity=let.identity, rows=let.rows)
                for one in rest:
                    _add_rejected(connection, now, one, hours=parts.settings.guards.hold_hours, who=who)
            done = _decided(connection, now, approve=let is not None, **decided)
        now = _known(connection, hold_id)
    if now.state == hold.state and not (done or as_seen):
        # new products have sold since: the same question, about newer quantities
        return reconsider(parts, hold_id, thresholds, who=who, why=why)
    return _told(now, done=done)


@dataclass(frozen=True)
class _Let:
    """What other thresholds let through, in the lake."""

    path: str
    identity: str
    rows: int


def _parted(
    parts: Parts, hold: Hold, row: VendorRun, delta_path: str, limits: GuardSettings
) -> tuple[_Let | None, list[Found]]:
    """What of a hold these thresholds let through, None: nothing; and the slices that they still hold."""
    from shelfsync.catalog.decision import beside, identity
    from shelfsync.catalog.guard import guard as pure

    case = dataclasses.replace(read_case(parts, row, delta_path)[0], limits=limits)
    held = parts.lake.read_table(hold.rows_path)
    passing = [rows for _, rows in approved_rows(parts, hold.vendor)]
    verdict = pure(case, approved=[*passing, beside(case.delta, held)], only=hold.rule)
    let = _without(held, {sku for one in verdict.slices for sku in one.rows["sku"].to_pylist()})
    if let.num_rows == 0:
        return None, []
    path = parts.lake.write_table("hold", hold.vendor, let)
    return _Let(path, identity(let), let.num_rows), written(parts, case, verdict)


def _add_rejected(connection: Connection, hold: Hold, rest: Found, *, hours: float, who: str) -> None:
    """What a person's thresholds still hold is a hold of its own, and decided."""
    number = holds.add(connection, hold.vendor, hold.run_id, hold.generation, rest, hours)
    holds.decide(connection, number, holds.REJECTED, who=_line(who) or "unknown", why=f"left by hold {hold.hold_id}")


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
    state = holds.APPROVED if approve else holds.REJECTED
    who, why = _line(who) or "unknown", _line(why)
    done = holds.decide(connection, hold.hold_id, state, who=who, why=why, thresholds=thresholds)
    if done and approve and hold.rule in FEED_RULES:
        feeds.trust(connection, hold.vendor, hold.generation)
    return done


def _told(hold: Hold, *, done: bool) -> dict[str, Any]:
    """What became of a word about a hold: `{"hold", "state", "decided", "line"}`."""
    line = f"hold {hold.hold_id} ({hold.label}) is {hold.state} by {hold.decided_by}" if done else _why_not(hold)
    log.warning("holds: %s", line)
    return {"hold": hold.hold_id, "state": hold.state, "decided": done, "line": line}


def release(parts: Parts, hold_id: int) -> dict[str, Any]:
    """Plans the approved rows as batches of the run that holds them: `{"run", "vendors", "line"}`; no vendors: nothing to deliver now.

    Where a newer extract is on its way, that run sends the approved values, if it still wants them.
    """
    with parts.engine.connect() as connection:
        hold = _known(connection, hold_id)
        base = vendors.current_baseline(connection, hold.vendor)
    if hold.state != holds.APPROVED:  # the rows of one that is not decided may still change
        return _released_nothing(hold, _why_not(hold))
    pieces = _pieces(parts, hold, None if base is None else base.path)
    with parts.engine.begin() as connection:
        stands = vendors.lock(connection, hold.vendor)
        hold = _known(connection, hold_id)
        why = _not_now(connection, hold, stands)
        if why is None and hold.released_at is None:
            _plan(connection, hold, stands, pieces)
    if why is not None:
        return _released_nothing(hold, why)
    line = f"hold {hold_id} ({hold.label}): planned as {len(pieces)} requests of run {hold.run_id}"
    return {"run": hold.run_id, "vendors": [hold.vendor], "label": hold.label, "line": line}


def _released_nothing(hold: Hold, why: str) -> dict[str, Any]:
    log.warning("holds: %s", why)
    return {"run": hold.run_id, "vendors": [], "label": hold.label, "line": why}


def release_waiting(parts: Parts) -> None:
    """Plans what was approved on a page, or by a process that died before it could: the schedule carries it."""
    with parts.engine.connect() as connection:
        found = holds.waiting(connection)
    for hold in found:
        release(parts, hold.hold_id)


def _plan(connection: Connection, hold: Hold, stands: vendors.Vendor, pieces: list[batches.Piece]) -> None:
    row = vendor_runs.read(connection, hold.run_id, hold.vendor)
    assert row is not None
    vendors.raise_fence(connection, hold.vendor, hold.generation)
    batches.append(
        connection,
        run_id=hold.run_id,
        vendor=hold.vendor,
        generation=hold.generation,
        base_version=stands.baseline_version,
        snapshot_path=row.snapshot_path or "",
        pieces=pieces,
    )
    vendor_runs.write(
        connection,
        hold.run_id,
        hold.vendor,
        state="open",
        failed_step=None,
        error=None,
        batched_at=row.batched_at or instant(),
    )
    holds.released(connection, hold.hold_id)


def _pieces(parts: Parts, hold: Hold, base_path: str | None) -> list[batches.Piece]:
    from shelfsync.catalog.companion import alone
    from shelfsync.columns import BASELINE
    from shelfsync.flow.batch import pieces

    baseline = BASELINE.empty_table() if base_path is None else parts.lake.read_table(base_path)
    return pieces(parts, hold.vendor, alone(parts.lake.read_table(hold.rows_path), baseline), base_path)


def _not_now(connection: Connection, hold: Hold, stands: vendors.Vendor) -> str | None:
    if hold.state != holds.APPROVED:
        return _why_not(hold)
    newer = hold.superseded_by or vendor_runs.newer_on_its_way(connection, hold.vendor, hold.generation)
    if hold.released_at is None and (newer is not None or stands.fence > hold.generation):
        return (
            f"hold {hold.hold_id} ({hold.label}) is approved, and run {newer} has a newer extract: what it still wants of these very"
            " values passes the guards and is sent by it or by the run after it"
        )
    return None


def _why_not(hold: Hold) -> str:
    by = f" by {hold.decided_by}" if hold.decided_by else ""
    if hold.superseded_by is not None and hold.state != holds.APPROVED:
        return f"hold {hold.hold_id} ({hold.label}): superseded by the newer extract of run {hold.superseded_by}; nothing of it is sent"
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
