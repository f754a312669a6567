"""guard: what looks like an accident is held as slices for a person, the rest goes on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync.flow import unrestored, urgent
from shelfsync.flow.each_vendor import Skip, StepReport, each_vendor
from shelfsync.flow.unrestored import Unrestored
from shelfsync.ledger import feeds, holds, runs, vendor_runs, vendors
from shelfsync.ledger.holds import Found

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.guard import Guarded, Slice
    from shelfsync.catalog.guards.case import Case
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.holds import Hold
    from shelfsync.ledger.runs import Run
    from shelfsync.ledger.vendor_runs import VendorRun

log = logging.getLogger(__name__)

FEED_RULES = frozenset({"duplicate_feed", "empty_feed", "shrunken_extract", "mass_removal", "vanished_category"})
"""Rules that doubt the extract as a whole: while one holds, the extract is no measure for the next."""


def guard(parts: Parts, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the released part of each delta and the slices that are held; a dry run writes nothing of holds."""
    with parts.engine.begin() as connection:
        run = runs.read_run(connection, run_id)
        if not run.dry_run:
            holds.expire(connection)

    def work(row: VendorRun) -> None:
        if row.delta_path is None or row.state == "busy":
            raise Skip("there is no delta")
        if row.batched_at is not None:
            raise Skip("its batches are committed; they stay as they are")
        if row.state == "unchanged":  # as the diff found; or what this step said before, when it held everything
            if not _is_newest(parts, row):
                raise Skip("nothing changed, and a newer extract is known: what is held and sent is that one's matter")
            if parts.lake.read_table(row.delta_path, ["sku"]).num_rows == 0:
                if not run.dry_run:
                    _nothing_left(parts, run, row, row.delta_path)
                raise Skip("nothing changed")
        _guard_vendor(parts, run, row, row.delta_path)

    return each_vendor(parts, run_id, names, "guard", work)


def _is_newest(parts: Parts, row: VendorRun) -> bool:
    with parts.engine.connect() as connection:
        return vendor_runs.has_newest_snapshot(connection, row)


def _nothing_left(parts: Parts, run: Run, row: VendorRun, delta_path: str) -> None:
    """Nothing differs any more: there is nothing left to decide, and nothing that an approval could still let through.

    Beneath a restoration the ERP may have moved nevertheless.
    """
    case, categories_path = read_case(parts, row, delta_path)
    beneath = _beneath(parts, row, case)
    with parts.engine.begin() as connection:
        vendors.lock(connection, row.vendor)
        holds.renew(
            connection,
            row.vendor,
            run_id=row.run_id,
            generation=row.generation,
            found=(),
            hours=0,
            kept=beneath.carried,
        )
        if unrestored.is_concerned(row, case):
            _record(connection, run, row, case, categories_path, beneath, ())
        approved = holds.approved(connection, row.vendor, hours=parts.settings.guards.approval_hours)
        _spend(connection, row, [one for one in approved if one.generation <= row.generation])


def _spend(connection: Connection, row: VendorRun, done: list[Hold]) -> None:
    """Ends approvals of which an extract asks for nothing any more; one that nobody proved whole says nothing of what is missing."""
    if done and runs.is_complete(connection, row.extract_id):
        holds.spend(connection, [one.hold_id for one in done])


def _guard_vendor(parts: Parts, run: Run, row: VendorRun, delta_path: str) -> None:
    from shelfsync.catalog.decision import pending
    from shelfsync.catalog.guard import guard as pure

    case, categories_path = read_case(parts, row, delta_path)
    approved = approved_rows(parts, row.vendor)
    done = [
        hold
        for hold, rows in approved
        if hold.generation <= row.generation and not pending(case.delta, case.baseline, rows)
    ]
    verdict = pure(case, approved=[rows for _, rows in approved], rejected=_rejected(parts, row.vendor))
    beneath = _beneath(parts, row, case)
    released, held = urgent.named(verdict.released, case.baseline, run.skus), verdict.held
    values = {
        "released_path": parts.lake.write_table("released", row.vendor, released),
        "held_path": parts.lake.write_table("held", row.vendor, held) if held.num_rows else None,
        "changes_held": len(held["sku"].unique()),
    }
    found = [] if run.dry_run else written(parts, case, verdict)
    for one in verdict.slices:
        log.warning("guard: vendor %s: %d rows held by %s: %s", row.vendor, one.rows.num_rows, one.rule, one.message)
    if released.num_rows == 0 or row.state == "unchanged":  # the latter is what an earlier try of this step said
        values["state"] = "open" if released.num_rows else "unchanged"
    with parts.engine.begin() as connection:
        vendor_runs.write(connection, row.run_id, row.vendor, **values)
        if run.dry_run:
            return
        hours = parts.settings.guards.hold_hours
        vendors.lock(connection, row.vendor)
        if not feeds.newer(
            connection, row.vendor, row.generation
        ):  # an old run again has no say in what is asked today
            holds.renew(
                connection,
                row.vendor,
                run_id=run.run_id,
                generation=row.generation,
                found=found,
                hours=hours,
                kept=beneath.carried,
            )
            _spend(connection, row, done)
        _record(connection, run, row, case, categories_path, beneath, found)


def _beneath(parts: Parts, row: VendorRun, case: Case) -> Unrestored:
    """What a restoration hides of the ERP; nothing where there is none."""
    if not unrestored.is_concerned(row, case):
        return Unrestored()
    approved = [rows for _, rows in approved_rows(parts, row.vendor)]
    return unrestored.follow(parts, row, case, approved=approved, rejected=_rejected(parts, row.vendor))


def _record(
    connection: Connection,
    run: Run,
    row: VendorRun,
    case: Case,
    categories_path: str | None,
    beneath: Unrestored,
    found: Iterable[Found],
) -> None:
    """Writes what the ERP's extract was like: not what a restoration made of it."""
    feeds.record(
        connection,
        row.vendor,
        row.generation,
        run_id=run.run_id,
        snapshot_path=row.erp_path or row.snapshot_path or "",
        rows=case.extract_rows,
        categories_path=categories_path,
        trusted=FEED_RULES.isdisjoint({*beneath.rules, *(one.rule for one in found)}),
        unrestored_path=beneath.path,
    )


def read_case(parts: Parts, row: VendorRun, delta_path: str) -> tuple[Case, str | None]:
    """Everything that a vendor's delta is judged by, and where its categories are kept."""
    from shelfsync.catalog.guards.case import Case, History
    from shelfsync.catalog.guards.categories import remembered
    from shelfsync.columns import BASELINE

    settings = parts.settings.guards
    snapshot_path = row.snapshot_path or ""
    with parts.engine.connect() as connection:
        base = vendors.baseline_of_version(connection, row.vendor, row.base_version or 0)
        known_path = vendors.known_of_version(connection, row.vendor, row.base_version or 0)
        erp_path = row.erp_path or snapshot_path
        past = feeds.past(connection, row.vendor, row.generation, erp_path, feeds=settings.history_feeds)
        rows = vendor_runs.rows_raw(connection, row.run_id, row.vendor)
        days = parts.settings.housekeeping.run_days
        first = not vendor_runs.in_step_before(connection, row.vendor, row.generation, days=days)
    baseline = BASELINE.empty_table() if base is None else parts.lake.read_table(base)
    snapshot = parts.lake.read_table(snapshot_path)
    known = None if past.categories_path is None else parts.lake.read_table(past.categories_path)
    categories = remembered(known, snapshot, baseline)
    kept = None if categories is None else parts.lake.write_table("categories", row.vendor, categories)
    repeats = None if past.repeated_at is None else f"{past.repeated_at:%Y-%m-%d %H:%M:%S %Z}"
    case = Case(
        vendor=row.vendor,
        delta=parts.lake.read_table(delta_path),
        snapshot=snapshot,
        baseline=baseline,
        extract_rows=rows,
        limits=settings,
        history=History(past.rows, repeats, categories, _skus(parts, past.undone), first),
        known=None if known_path is None or known_path == base else parts.lake.read_table(known_path),
        unrestored=unrestored.read(parts, past.unrestored_path),
        at_buffer=parts.settings.effect.at_buffer,
    )
    return case, kept


def _skus(parts: Parts, paths: Iterable[str]) -> frozenset[str]:
    """The SKUs of some tables; of those that housekeeping has removed, none."""
    return frozenset(
        sku for path in paths if parts.lake.exists(path) for sku in parts.lake.read_table(path)["sku"].to_pylist()
    )


def approved_rows(parts: Parts, vendor: str) -> list[tuple[Hold, pa.Table]]:
    """What a person let through lately, and has not passed yet: the holds with their rows, whose very values pass."""
    with parts.engine.connect() as connection:
        found = holds.approved(connection, vendor, hours=parts.settings.guards.approval_hours)
    return [(one, parts.lake.read_table(one.rows_path)) for one in found]


def _rejected(parts: Parts, vendor: str) -> list[Slice]:
    """Slices that somebody did not let through, and that the newest extract still had."""
    from shelfsync.catalog.guard import Slice

    with parts.engine.connect() as connection:
        decided = holds.of_vendor(connection, vendor, holds.REJECTED, holds.EXPIRED)
    return [
        Slice(one.rule, one.category, one.message, one.thresholds, parts.lake.read_table(one.rows_path), one.hold_id)
        for one in decided
    ]


def written(parts: Parts, case: Case, verdict: Guarded) -> list[Found]:
    """The slices with their rows in the lake, and what they were compared with."""
    from shelfsync.catalog.decision import identity, known_before

    return [
        Found(
            one.rule,
            one.category,
            one.message,
            one.thresholds,
            parts.lake.write_table("hold", case.vendor, one.rows),
            parts.lake.write_table("hold", case.vendor, known_before(one.rows, case.reference)),
            identity(one.rows),
            one.rows.num_rows,
            one.carried,
        )
        for one in verdict.slices
    ]
