"""guard: holds risky changes for a person, and releases the rest."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from shelfsync import display, logs
from shelfsync.catalog.ledger import extracts, runs, source_columns, vendor_runs, vendors
from shelfsync.catalog.ledger.compared import for_guard
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps.each_vendor import each_vendor, write
from shelfsync.catalog.steps.restore import as_unrestored_if_any, hidden
from shelfsync.decisions.hold import Found
from shelfsync.decisions.ledger import approvals, hold_expiry, holds
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.store.lake import LostFileError, OneFileError
from shelfsync.vendors.step_report import Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.guards.held_changes import HeldChanges
    from shelfsync.catalog.ledger.compared import Guarded
    from shelfsync.catalog.ledger.extracts import Past
    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.catalog.steps.restore import Hidden
    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold

log = logging.getLogger(__name__)
in_report = logs.in_report(__name__)

FEED_RULES = frozenset(
    {"changed_columns", "duplicate_feed", "empty_feed", "shrunken_extract", "mass_removal", "vanished_category"}
)
"""Rules about the extract as a whole. While one holds, later extracts are not compared with this one."""


def guard(context: Context, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the released and the held part of each delta. A dry run writes no holds."""
    with context.engine.begin() as connection:
        run = runs.read_run(connection, run_id)
        if not run.dry_run:
            hold_expiry.expire(connection, subject=Subject.CATALOG)

    known: dict[str, Guarded] = {}
    decided: dict[str, _Decided] = {}

    def ahead(connection: Connection, found: Collection[str]) -> None:
        known.update(_guarded(context, connection, run_id, found))
        decided.update(_decided(context, connection, found))

    def read(connection: Connection, row: VendorRun) -> tuple[CaseFacts, _Decided]:
        if row.delta_path is None or row.state == VendorState.BUSY:
            raise Skip("there is no delta")
        if row.batched_at is not None:
            raise Skip("its batches are committed; they stay as they are")
        if row.state == VendorState.UNCHANGED and not vendor_runs.has_newest_snapshot(connection, row):
            raise Skip("nothing changed, and a newer extract exists, which decides what is held and sent")
        return case_facts(context, connection, row, known[row.vendor]), decided[row.vendor]

    def work(row: VendorRun, found: tuple[CaseFacts, _Decided]) -> None:
        facts, decided = found
        path = row.delta_path or ""
        # unchanged: set by the diff, or by this step before, if it held everything
        if row.state == VendorState.UNCHANGED and context.lake.read_table(path, ["sku"]).num_rows == 0:
            if not run.dry_run:
                _nothing_left(context, run, row, path, facts, decided)
            raise Skip("nothing changed")
        _guard_vendor(context, run, row, path, facts, decided)

    return each_vendor(context, run_id, names, "guard", read, work, ahead=ahead)


def _nothing_left(
    context: Context, run: Run, row: VendorRun, delta_path: str, facts: CaseFacts, decided: _Decided
) -> None:
    """Ends the vendor's holds and approvals, because nothing differs any more, as far as the extract shows."""
    acknowledged, categories_path = acknowledged_case(context, row, delta_path, facts)
    case = as_unrestored_if_any(context, acknowledged, facts.past.unrestored_path)
    beside = hidden(context, row, acknowledged, facts.past.unrestored_path, decided.with_rows)
    found = written(context, case, _with_unseen(context, row, (), decided.with_rows(context)[1], beside.carried))
    with context.engine.begin() as connection:
        vendors.lock(connection, row.vendor)
        holds.renew(
            connection,
            Subject.CATALOG,
            found,
            vendor=row.vendor,
            run_id=row.run_id,
            generation=row.generation,
            hours=context.settings.guards.hold_hours,
            kept=beside.carried,
        )
        if beside.concerned:
            _record(connection, run, row, case, categories_path, beside, ())
        approved = approvals.approved(
            connection, Subject.CATALOG, row.vendor, hours=context.settings.guards.approval_hours
        )
        _spend(connection, row, [one for one in approved if one.generation <= row.generation])


def _spend(connection: Connection, row: VendorRun, done: list[Hold]) -> None:
    """Ends approvals whose rows the extract no longer has. An extract that is not proven complete ends none."""
    if done and runs.is_complete(connection, row.extract_id):
        approvals.spend(connection, [one.hold_id for one in done])


def _guard_vendor(
    context: Context, run: Run, row: VendorRun, delta_path: str, facts: CaseFacts, decided: _Decided
) -> None:
    from shelfsync.catalog.guards.apply_guards import apply_guards
    from shelfsync.catalog.guards.approved_values import pending
    from shelfsync.catalog.urgent_skus import only_urgent

    acknowledged, categories_path = acknowledged_case(context, row, delta_path, facts)
    case = as_unrestored_if_any(context, acknowledged, facts.past.unrestored_path)
    beside = hidden(context, row, acknowledged, facts.past.unrestored_path, decided.with_rows)
    approved, declined = decided.with_rows(context)
    done = [
        hold
        for hold, rows in approved
        if hold.generation <= row.generation and not pending(case.delta, case.baseline, rows)
    ]
    verdict = apply_guards(case, approved=[rows for _, rows in approved], declined=declined)
    released, held = only_urgent(verdict.released, case.baseline, run.skus), verdict.held
    whole = released.equals(acknowledged.delta)
    values = {
        "released_path": delta_path if whole else context.lake.write_table("released", row.vendor, released),
        "held_path": context.lake.write_table("held", row.vendor, held) if held.num_rows else None,
        "changes_held": len(held["sku"].unique()),
    }
    all_held = _with_unseen(context, row, verdict.held_changes, declined, beside.carried)
    found = [] if run.dry_run else written(context, case, all_held)
    held_by = "rows would be held by" if run.dry_run else "rows held by"
    for one in verdict.held_changes:
        in_report.warning(
            "guard: vendor %s: %d %s %s: %s", row.vendor, one.rows.num_rows, held_by, one.rule, one.message
        )
    if released.num_rows == 0 or row.state == VendorState.UNCHANGED:  # unchanged: set by an earlier try of this step
        values["state"] = VendorState.OPEN if released.num_rows else VendorState.UNCHANGED
    with context.engine.begin() as connection:
        if not run.dry_run:
            vendors.lock(connection, row.vendor)  # before the row, as batch does
        write(connection, row, **values)
        if run.dry_run:
            return
        hours = context.settings.guards.hold_hours
        if not extracts.newer(connection, row.vendor, row.generation):  # a repeated step of an old run changes no hold
            holds.renew(
                connection,
                Subject.CATALOG,
                found,
                vendor=row.vendor,
                run_id=run.run_id,
                generation=row.generation,
                hours=hours,
                kept=beside.carried,
            )
            _spend(connection, row, done)
        _record(connection, run, row, case, categories_path, beside, verdict.held_changes)


def _with_unseen(
    context: Context,
    row: VendorRun,
    held_changes: Iterable[HeldChanges],
    declined: Iterable[HeldChanges],
    kept: frozenset[int],
) -> list[HeldChanges]:
    """The held changes, and the rows of declined or expired holds that this extract does not show although the ERP may have them.

    Otherwise a row that is unreadable for one run would end the decision about it. `kept`: holds that stay as they are.
    """
    from shelfsync.catalog.guards.declined_values import unseen, with_unseen
    from shelfsync.rows.alignment import column
    from shelfsync.schemas import QUARANTINE

    left = [one for one in declined if one.carried not in kept]
    if not left:
        return list(held_changes)
    shown = column(context.lake.read_table(row.erp_path or row.snapshot_path or "", ["sku"]), "sku")
    quarantined = context.lake.read_or_empty(row.quarantine_path, QUARANTINE, ["sku"])
    with context.engine.connect() as connection:
        complete = runs.is_complete(connection, row.extract_id)
    skus = column(quarantined, "sku")
    rows = [replace(one, rows=unseen(one.rows, shown, skus, complete=complete)) for one in left]
    return with_unseen(held_changes, rows)


def _record(
    connection: Connection,
    run: Run,
    row: VendorRun,
    case: Case,
    categories_path: str | None,
    beside: Hidden,
    held_changes: Iterable[HeldChanges],
) -> None:
    """Records the ERP's own extract."""
    extracts.record(
        connection,
        row.vendor,
        row.generation,
        run_id=run.run_id,
        snapshot_path=row.erp_path or row.snapshot_path or "",
        rows=case.extract_rows,
        categories_path=categories_path,
        trusted=FEED_RULES.isdisjoint({*beside.rules, *(one.rule for one in held_changes)}),
        unrestored_path=beside.path,
    )


class CaseFacts(NamedTuple):
    """The ledger's facts about a vendor's delta, the rows of its extract, and what is different in the source's columns."""

    about: Guarded
    rows: int
    columns: list[str]

    @property
    def past(self) -> Past:
        return self.about.past


def _guarded(context: Context, connection: Connection, run_id: int, names: Collection[str]) -> dict[str, Guarded]:
    feeds, days = context.settings.guards.history_feeds, context.settings.housekeeping.run_days
    return for_guard(connection, run_id, names, feeds=feeds, days=days)


def case_facts(context: Context, connection: Connection, row: VendorRun, about: Guarded) -> CaseFacts:
    """Reads the rest of the ledger's facts for the guards, in the caller's transaction."""
    holds_columns = context.settings.erp.changed_columns == "hold"
    trusted = about.past.trusted_run
    columns = source_columns.since(connection, row.vendor, trusted, row.run_id) if holds_columns else []
    return CaseFacts(about, row.rows_raw, columns)


def read_case(context: Context, row: VendorRun, delta_path: str) -> Case:
    """The guards' input for a vendor's delta."""
    with context.engine.connect() as connection:
        about = _guarded(context, connection, row.run_id, [row.vendor])[row.vendor]
        facts = case_facts(context, connection, row, about)
    acknowledged, _ = acknowledged_case(context, row, delta_path, facts)
    return as_unrestored_if_any(context, acknowledged, facts.past.unrestored_path)


def acknowledged_case(context: Context, row: VendorRun, delta_path: str, facts: CaseFacts) -> tuple[Case, str | None]:
    """The vendor's delta with all that it is compared with, as acknowledged; and the lake path of its categories."""
    from shelfsync.catalog.assortment.acknowledged_rows import last_known_rows
    from shelfsync.catalog.guards.case import Case, History
    from shelfsync.catalog.guards.last_categories import last_categories
    from shelfsync.schemas import BASELINE

    about, rows, columns = facts
    past, known_path = about.past, about.known
    settings = context.settings.guards
    snapshot_path = row.snapshot_path or ""
    baseline = context.lake.read_or_empty(about.base, BASELINE)
    snapshot = context.lake.read_table(snapshot_path)
    known = context.lake.read_or_none(past.categories_path)
    if known is None and past.categories_path is not None:
        in_report.warning("guard: vendor %s: the lake has lost the last categories; they begin anew", row.vendor)
    categories = last_categories(known, snapshot, baseline)
    kept = None if categories is None else context.lake.write_table("categories", row.vendor, categories)
    repeats = None if past.repeated_at is None else display.instant(past.repeated_at)
    case = Case(
        vendor=row.vendor,
        delta=context.lake.read_table(delta_path),
        snapshot=snapshot,
        baseline=baseline,
        extract_rows=rows,
        limits=settings,
        history=History(past.rows, repeats, categories, _skus(context, past.undone), tuple(columns), about.first),
        known=None if known_path in {None, about.base} else last_known_rows(context, row.vendor, known_path, baseline),
        at_buffer=context.settings.suppression.at_buffer,
    )
    return case, kept


def _skus(context: Context, paths: Iterable[str]) -> frozenset[str]:
    """The SKUs of some tables; a table that the lake no longer has has none."""
    return frozenset(
        sku
        for path in paths
        if (rows := context.lake.read_or_none(path, ["sku"])) is not None
        for sku in rows["sku"].to_pylist()
    )


class _Decided(NamedTuple):
    """Approved holds that no run has sent yet; and declined or expired ones that the newest extract still has."""

    approved: list[Hold]
    declined: list[Hold]

    def with_rows(self, context: Context) -> tuple[list[tuple[Hold, pa.Table]], list[HeldChanges]]:
        """The approved holds with their rows (DELTA schema), and the declined ones as held changes."""
        from shelfsync.catalog.guards.held_changes import HeldChanges

        declined = [
            HeldChanges(one.rule, one.category, one.message, one.thresholds, _declined_rows(context, one), one.hold_id)
            for one in self.declined
        ]
        return _with_rows(context, self.approved), declined


def _declined_rows(context: Context, hold: Hold) -> pa.Table:
    """OneFileError: they are lost. Then nothing is sent to the store, or what a person declined would go on in parts."""
    try:
        return context.lake.read_table(hold.rows_path)
    except LostFileError as lost:
        raise OneFileError(
            "SHELFSYNC_LAKE_URL",
            f"{context.lake.root} has lost the rows of {hold.named}, which is {hold.state}, so nothing is sent to this store",
            f"Restore {hold.rows_path}, or run `shelfsync holds reopen {hold.hold_id} --reason TEXT`: then the guards judge anew.",
        ) from lost


def _with_rows(context: Context, approved: Iterable[Hold]) -> list[tuple[Hold, pa.Table]]:
    """Without holds whose rows the lake has lost: the same changes are held again, and a person is asked anew."""
    found = [(one, context.lake.read_or_none(one.rows_path)) for one in approved]
    for hold in (hold for hold, rows in found if rows is None):
        in_report.warning("guard: %s: the lake has lost its rows, so the guards judge them anew", hold.named)
    return [(hold, rows) for hold, rows in found if rows is not None]


def _decided(context: Context, connection: Connection, names: Collection[str]) -> dict[str, _Decided]:
    found = {name: _Decided([], []) for name in names}
    for hold in approvals.decided(connection, Subject.CATALOG, names, hours=context.settings.guards.approval_hours):
        mine = found[hold.vendor]
        (mine.approved if hold.state == HoldState.APPROVED else mine.declined).append(hold)
    return found


def approved_rows(context: Context, vendor: str) -> list[tuple[Hold, pa.Table]]:
    """Approved holds that no run has sent yet, with their rows (DELTA schema). Exactly these values pass the guards."""
    with context.engine.connect() as connection:
        approved = approvals.approved(connection, Subject.CATALOG, vendor, hours=context.settings.guards.approval_hours)
    return _with_rows(context, approved)


def written(context: Context, case: Case, held_changes: Iterable[HeldChanges]) -> list[Found]:
    """Writes the held changes and the values they were compared with to the lake."""
    from shelfsync.catalog.guards.held_changes import identity, known_before

    return [
        Found(
            case.vendor,
            one.rule,
            one.category,
            one.message,
            one.thresholds,
            context.lake.write_table("hold", case.vendor, one.rows),
            context.lake.write_table("hold", case.vendor, known_before(one.rows, case.reference)),
            identity(one.rows),
            one.rows.num_rows,
            carried=one.carried,
        )
        for one in held_changes
    ]
