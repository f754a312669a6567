"""diff: what must change on the platform, compared with the vendor's baseline.

The quantities that change nothing for a customer wait for the full sync.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.assortment import unknown_skus
from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.ledger import batches, runs, vendor_runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.ledger.compared import for_diff
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps import rejected_skus
from shelfsync.catalog.steps.absent import without_removals
from shelfsync.catalog.steps.each_vendor import each_vendor, write
from shelfsync.catalog.steps.sales_buffers_file import buffers_of, rules_of
from shelfsync.catalog.suppression import Suppressed, suppress_no_ops, with_buffers
from shelfsync.errors import DataError
from shelfsync.schemas import ABSENT
from shelfsync.vendors.step_report import Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.compared import Compared
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.catalog.sales_buffers import Buffers, Rule
    from shelfsync.context import Context


def diff(context: Context, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the delta of each vendor. A vendor with an open job is left to the next run: its baseline is about to move."""
    rules = rules_of(context.settings.suppression)
    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)

    known: dict[str, Compared] = {}
    jobs: dict[str, list[CatalogJob]] = {}

    def ahead(connection: Connection, found: Collection[str]) -> None:
        jobs.update({name: [] for name in found})
        for job in catalog_jobs.open_jobs(connection, vendors=found):
            jobs[job.vendor].append(job)
        known.update(
            for_diff(connection, run_id, found)
        )  # after the jobs: one that ends meanwhile has moved the baseline

    def read(connection: Connection, row: VendorRun) -> _Facts:
        if row.snapshot_path is None:
            raise Skip("nothing was normalised")
        if row.batched_at is not None:
            raise Skip("its batches are committed; they stay as they are")
        about = known[row.vendor]
        busy = None if run.dry_run else _why_busy(run, row, jobs[row.vendor], about)
        if not about.rejected:
            return _Facts(run, busy, about, rejected_skus.none_in_force())
        unknown_skus.release_seen(context, connection, row.vendor)
        return _Facts(run, busy, about, rejected_skus.in_force(connection, row.vendor))

    def work(row: VendorRun, facts: _Facts) -> None:
        if facts.busy is not None:
            with context.engine.begin() as connection:
                write(connection, row, state=VendorState.BUSY, error=facts.busy)
            raise Skip(facts.busy)
        _diff_vendor(context, row, row.snapshot_path or "", facts, rules)

    return each_vendor(context, run_id, names, "diff", read, work, ahead=ahead)


class _Facts(NamedTuple):
    """The ledger's facts: why the vendor is passed over, what its diff has to know, the rejections in force."""

    run: Run
    busy: str | None
    about: Compared
    rejected: pa.Table


def _diff_vendor(context: Context, row: VendorRun, snapshot_path: str, facts: _Facts, rules: list[Rule]) -> None:
    run, _, about, rejected = facts
    base = about.base
    snapshot = context.lake.read_table(snapshot_path)
    baseline = acknowledged_rows(context, row.vendor, base)
    quarantined = None if row.quarantine_path is None else context.lake.read_table(row.quarantine_path)
    delta = compute_delta(
        snapshot,
        baseline,
        full=run.full,
        rejected=rejected,
        quarantined=quarantined,
        key=context.settings.platform.item_key,
    )
    absent = ABSENT.empty_table()
    if not about.complete:
        delta, absent = without_removals(context, delta, about)
    suppression = context.settings.suppression
    split = without_no_ops(
        delta,
        baseline,
        snapshot,
        buffers_of(snapshot, row.vendor, rules, suppression),
        everything=run.full or not suppression.enabled,
        rejected=rejected,
    )
    delta = split.delta
    path = context.lake.write_table("delta", row.vendor, delta)
    suppressed_path, absent_path = (
        context.lake.write_table(kind, row.vendor, rows) if rows.num_rows else None
        for kind, rows in (("suppressed", split.suppressed), ("absent", absent))
    )
    counts = _counts(delta)
    # a rejection may go before the next run, and then the same rows ask for what this delta leaves out
    no_example = {"raw_digest": None} if rejected.num_rows else {}
    with context.engine.begin() as connection:
        asked = about.complete and about.rejected and not run.dry_run
        if asked and vendor_runs.has_newest_snapshot(connection, row):
            rejected_skus.forget_gone(connection, row.vendor, snapshot, baseline, quarantined)
        if not (delta.num_rows or run.dry_run or run.skus):
            batches.supersede_older(connection, row.vendor, row.generation)  # the ERP no longer has these values (I4)
        write(
            connection,
            row,
            delta_path=path,
            released_path=None,
            held_path=None,
            changes_suppressed=split.suppressed.num_rows,
            suppressed_path=suppressed_path,
            skus_absent=absent.num_rows,
            absent_path=absent_path,
            base_version=0 if base is None else base.version,
            state=VendorState.OPEN if delta.num_rows else VendorState.UNCHANGED,
            **no_example,
            **{f"changes_{change}": counts.get(change, 0) for change in ("new", "changed", "removed", "same")},
        )


def _why_busy(run: Run, row: VendorRun, jobs: list[CatalogJob], about: Compared) -> str | None:
    """Why the vendor is passed over: a job of it is open, or a full sync of it is under way.

    A job past its deadline that `recover` could not end is a failure: run after run would pass the vendor over.
    """
    overdue = next((job for job in jobs if job.overdue and job.run_id != row.run_id), None)
    if overdue is not None:
        raise DataError(
            f"nothing is sent before job {overdue.job_id} of run {overdue.run_id} ends, which is past its deadline."
            " `shelfsync recover` reports why it cannot end"
        )
    if jobs:
        return f"job {jobs[0].job_id} of run {jobs[0].run_id} is {jobs[0].state}; the next run sends what changed"
    if run.full or about.full_on_its_way is None:
        return None
    return f"the full sync of run {about.full_on_its_way} is at work with this vendor; the next run sends what changed since"


def _counts(delta: pa.Table) -> dict[str, int]:
    return {item["values"]: item["counts"] for item in pc.value_counts(delta["change"].combine_chunks()).to_pylist()}


def without_no_ops(
    delta: pa.Table,
    baseline: pa.Table,
    snapshot: pa.Table,
    buffers: Buffers,
    *,
    everything: bool,
    rejected: pa.Table | None,
) -> Suppressed:
    """Removes no-op quantities from a delta. `everything`: suppresses nothing, but adds the buffer to each quantity."""
    if everything:
        return Suppressed(with_buffers(delta, buffers), delta.slice(0, 0))
    return suppress_no_ops(delta, baseline, snapshot, buffers, rejected=rejected)
