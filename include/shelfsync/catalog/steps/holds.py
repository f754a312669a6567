"""The catalog's part of a hold: what an approval will do, what other thresholds release, and the sending of what was approved."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Any

from shelfsync.catalog import stake
from shelfsync.catalog.assortment.product_names import with_names
from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.held_changes import identity, without_held
from shelfsync.catalog.ledger import batches, extracts, vendor_runs, vendors
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps.guard import FEED_RULES, approved_rows, read_case, written
from shelfsync.decisions import held_row_order as moves
from shelfsync.decisions.hold import not_sent
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.ledger.holds import known
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps.other_thresholds import need_other_thresholds
from shelfsync.decisions.subject import Divided
from shelfsync.errors import DataError
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import BASELINE, FIELDS
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.guards.held_changes import HeldChanges
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold
    from shelfsync.settings import GuardSettings

log = logging.getLogger(__name__)


def rows(context: Context, hold: Hold) -> Any:
    """The held rows beside the values that were known when the hold began."""
    with context.engine.connect() as connection:
        before = _before(connection, hold)
    return with_before(context, context.lake.read_table(hold.rows_path), before)


def stake_of(context: Context, found: Sequence[Hold], thresholds: dict[str, Any] | None) -> dict[str, Any]:
    """What an approval of these holds will do: `{"stake", "moves", "lines"}`. `thresholds`: only of what these release."""
    stakes, moved = [], []
    for hold in found:
        divided = None if thresholds is None else divide(context, hold, thresholds)
        if divided is None:
            table = rows(context, hold)
        else:
            with context.engine.connect() as connection:
                table = with_before(context, divided.released, _before(connection, hold))
        stakes.append(stake.stake(table))
        largest = with_names(context, hold.vendor, moves.ordered(table, rows=moves.MOVES))
        moved += [{**row, "vendor": hold.vendor} for row in largest]
    moved = moves.largest(moved)
    total = stake.summed(stakes)
    return {"stake": total, "moves": moved, "lines": [*stake.lines(total, moved)]}


def _before(connection: Connection, hold: Hold) -> str | None:
    """Lake: the values known when the hold began. If they were not recorded, the present ones of an open hold; None: unknown."""
    if hold.before_path is not None:
        return hold.before_path
    base = vendors.current_baseline(connection, hold.vendor) if hold.state == HoldState.OPEN else None
    return None if base is None else base.known_path


def with_before(context: Context, rows: Any, base_path: str | None) -> Any:
    """The rows with the baseline's value beside each field, and the ratio of the prices."""
    import pyarrow as pa
    import pyarrow.compute as pc

    baseline = context.lake.read_or_empty(base_path, BASELINE)
    before = aligned(baseline, column(rows, "sku"), FIELDS)
    for name in FIELDS:
        rows = rows.append_column(f"{name}_before", before[name])
    new, old = (pc.cast(values, pa.float64()) for values in (column(rows, "price"), before["price"]))
    usable = pc.greater(old, 0).fill_null(False)
    return rows.append_column(
        "move", pc.if_else(usable, pc.divide(new, pc.if_else(usable, old, 1.0)), pa.scalar(None, pa.float64()))
    )


def divide(context: Context, hold: Hold, thresholds: dict[str, Any]) -> Divided | None:
    """What these thresholds make of a hold. None: the files of its run are gone."""
    with context.engine.connect() as connection:
        row = vendor_runs.read(connection, hold.run_id, hold.vendor)
    if row is None or row.delta_path is None:
        return None
    guards = context.settings.guards
    try:
        limits = guards.with_thresholds(hold.vendor, hold.category, hold.rule, thresholds)
    except ValueError as error:
        raise DataError(f"hold {hold.hold_id}: these thresholds are invalid: {error}") from None
    used: dict[str, Any] = limits.limit(hold.rule, hold.vendor, hold.category).model_dump()
    need_other_thresholds(hold, used)
    released, case, still = _checked(context, hold, row, limits)
    rest = written(context, case, still) if released.num_rows else []
    return Divided(used, released, identity(released), rest)


def _checked(
    context: Context, hold: Hold, row: VendorRun, limits: GuardSettings
) -> tuple[Any, Case, tuple[HeldChanges, ...]]:
    """The rows that these thresholds release, what was checked, and the changes that they still hold."""
    case = dataclasses.replace(read_case(context, row, row.delta_path or ""), limits=limits)
    held = context.lake.read_table(hold.rows_path)
    passing = [rows for _, rows in approved_rows(context, hold.vendor)]
    verdict = apply_guards(case, approved=[*passing, without_held(case.delta, held)], only=hold.rule)
    let = _without(held, {sku for one in verdict.held_changes for sku in one.rows["sku"].to_pylist()})
    return let, case, verdict.held_changes


def _without(rows: Any, skus: set[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return rows.filter(pc.invert(pc.is_in(rows["sku"], value_set=pa.array(sorted(skus), pa.string()))))


def lock(connection: Connection, hold: Hold) -> None:
    """Locks the vendor."""
    vendors.lock(connection, hold.vendor)


def approved(connection: Connection, hold: Hold) -> None:
    """Later extracts are compared with one that a person has approved as a whole."""
    if hold.rule in FEED_RULES:
        extracts.trust(connection, hold.vendor, hold.generation)


def release(context: Context, hold_id: int) -> dict[str, Any]:
    """Plans the approved rows as batches of the run that holds them: `{"run", "vendors", "label", "line"}`.

    No vendors: nothing to deliver now. If a newer run has a newer extract, that run sends the approved values, if the ERP still has them.
    """
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
        base = vendors.current_baseline(connection, hold.vendor)
    if hold.state != HoldState.APPROVED:  # the rows of an undecided hold may still change
        return _released_nothing(hold, not_sent(hold))
    pieces = _pieces(context, hold, base)
    with context.engine.begin() as connection:
        state = vendors.lock(connection, hold.vendor)
        hold = known(connection, hold_id)
        why = _not_now(connection, hold, state)
        if why is None and hold.released_at is None:
            _plan(connection, hold, state, pieces)
    if why is not None:
        return _released_nothing(hold, why)
    planned = f"planned as {len(pieces)} requests" if hold.released_at is None else "planned before, in the requests"
    line = f"{hold.named}: {planned} of run {hold.run_id}"
    return {"run": hold.run_id, "vendors": [hold.vendor], "label": hold.label, "line": line}


def _released_nothing(hold: Hold, why: str) -> dict[str, Any]:
    log.warning("holds: %s", why)
    return {"run": hold.run_id, "vendors": [], "label": hold.label, "line": why}


def release_waiting(context: Context) -> dict[str, str]:
    """Plans the approved holds that no process has planned, for example those approved on a page; {vendor: reason} of those that failed."""
    with context.engine.connect() as connection:
        found = holds.waiting(connection, Subject.CATALOG)
    failed: dict[str, str] = {}
    for hold in found:
        try:
            release(context, hold.hold_id)
        except Exception as error:
            if stops_every_job(error):
                raise
            failed[hold.vendor] = f"{hold.named} cannot be released: {reason_of(error)}"
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


def _pieces(context: Context, hold: Hold, base: vendors.BaselineVersion | None) -> list[batches.Piece]:
    from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
    from shelfsync.catalog.steps.batch import pieces

    rows = with_active_if_single(context.lake.read_table(hold.rows_path), acknowledged_rows(context, hold.vendor, base))
    return pieces(context, hold.vendor, rows, None if base is None else base.path)


def _not_now(connection: Connection, hold: Hold, state: vendors.Vendor) -> str | None:
    if hold.state != HoldState.APPROVED:
        return not_sent(hold)
    newer = hold.superseded_by or vendor_runs.newer_on_its_way(connection, hold.vendor, hold.generation)
    if hold.released_at is None and (newer is not None or state.fence > hold.generation):
        return (
            f"{hold.named} is approved, and run {newer} has a newer extract. If the ERP still has these"
            " values, that run or the next one sends them"
        )
    return None
