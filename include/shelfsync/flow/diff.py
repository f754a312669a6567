"""diff: what must change on the platform, against the last acknowledged state of the vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import DataError
from shelfsync.flow import rejected
from shelfsync.flow.each_vendor import Skip, StepReport, each_vendor
from shelfsync.flow.effect import buffers_of, rules_of, spared
from shelfsync.flow.intervals import known_intervals
from shelfsync.flow.open_job import finish_open_job
from shelfsync.ledger import batches, jobs, runs, vendor_runs, vendors

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.catalog.buffer import Rule
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.runs import Run
    from shelfsync.ledger.vendor_runs import VendorRun
    from shelfsync.ledger.vendors import BaselineVersion


def diff(parts: Parts, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the delta of each vendor. A vendor whose last job is still open is left to the next run: its baseline is about to move."""
    with parts.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
    rules = rules_of(parts.settings.effect)

    def work(row: VendorRun) -> None:
        if row.snapshot_path is None:
            raise Skip("nothing was normalised")
        if row.batched_at is not None:
            raise Skip("its batches are committed; they stay as they are")
        _diff_vendor(parts, run, row, row.snapshot_path, rules)

    return each_vendor(parts, run_id, names, "diff", work)


def _diff_vendor(parts: Parts, run: Run, row: VendorRun, snapshot_path: str, rules: list[Rule]) -> None:
    from shelfsync.catalog.diff import diff as pure

    if not run.dry_run:
        _wait_for_nobody(parts, row)
        if not run.full:
            _let_the_full_sync_pass(parts, row)
    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, row.vendor)
        complete = runs.is_complete(connection, row.extract_id)
    snapshot, baseline = parts.lake.read_table(snapshot_path), _baseline_table(parts, base)
    quarantined = None if row.quarantine_path is None else parts.lake.read_table(row.quarantine_path)
    refused = rejected.in_force(parts, row.vendor)
    delta = pure(
        snapshot,
        baseline,
        full=run.full,
        refused=refused,
        quarantined=quarantined,
        key=parts.settings.platform.key,
    )
    if not complete:
        delta = _without_removals(delta)
    effect = parts.settings.effect
    split = spared(
        delta,
        baseline,
        snapshot,
        buffers_of(snapshot, row.vendor, rules, effect, known_intervals(parts, row.vendor)),
        everything=run.full or effect.spare == "off",
        refused=refused,
    )
    delta = split.delta
    path = parts.lake.write_table("delta", row.vendor, delta)
    counts = _counts(delta)
    with parts.engine.begin() as connection:
        if complete and not run.dry_run and vendor_runs.has_newest_snapshot(connection, row):
            rejected.forget_gone(connection, row.vendor, snapshot, baseline, quarantined)
        if not (delta.num_rows or run.dry_run or run.skus):
            batches.supersede_older(connection, row.vendor, row.generation)  # it says what nobody wants any more (I4)
        vendor_runs.write(
            connection,
            row.run_id,
            row.vendor,
            delta_path=path,
            released_path=None,
            held_path=None,
            changes_spared=split.spared.num_rows,
            spared_path=parts.lake.write_table("spared", row.vendor, split.spared) if split.spared.num_rows else None,
            base_version=0 if base is None else base.version,
            state="open" if delta.num_rows else "unchanged",
            **{f"changes_{change}": counts.get(change, 0) for change in ("new", "changed", "removed", "same")},
        )


def _let_the_full_sync_pass(parts: Parts, row: VendorRun) -> None:
    with parts.engine.begin() as connection:
        full = vendor_runs.full_on_its_way(connection, row)
        if full is not None:
            why = f"the full sync of run {full} is on its way with this vendor; the next run sends what changed since"
            vendor_runs.write(connection, row.run_id, row.vendor, state="busy", error=why)
    if full is not None:
        raise Skip(why)


def _wait_for_nobody(parts: Parts, row: VendorRun) -> None:
    """An open job of the vendor is finished first if the platform has ended it; otherwise this run passes the vendor over.

    One that cannot be ended though its deadline has passed is a failure: the vendor would be passed over by run after run.
    """
    trouble = None
    with parts.engine.connect() as connection:
        left = jobs.open_job_of(connection, row.vendor)
    if left is not None and left.run_id != row.run_id:
        left, trouble = finish_open_job(parts, left)
    if left is None:
        return
    if left.overdue and trouble is not None:
        raise DataError(
            f"nothing is sent before job {left.job_id} of run {left.run_id} has ended, which is past its deadline and cannot be ended: {trouble}"
        )
    why = f"job {left.job_id} of run {left.run_id} is still {left.state}" + (f" ({trouble})" if trouble else "")
    with parts.engine.begin() as connection:
        vendor_runs.write(connection, row.run_id, row.vendor, state="busy", error=f"{why}; the next run goes on")
    raise Skip(f"{why}; the next run sends what changed")


def _baseline_table(parts: Parts, base: BaselineVersion | None) -> pa.Table:
    from shelfsync.columns import BASELINE

    return BASELINE.empty_table() if base is None else parts.lake.read_table(base.path)


def _without_removals(delta: pa.Table) -> pa.Table:
    """Absence from an extract that nobody proved whole says nothing (I9)."""
    import pyarrow.compute as pc

    return delta.filter(pc.not_equal(delta["change"], "removed"))


def _counts(delta: pa.Table) -> dict[str, int]:
    import pyarrow.compute as pc

    return {item["values"]: item["counts"] for item in pc.value_counts(delta["change"].combine_chunks()).to_pylist()}
