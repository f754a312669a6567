"""Vendors of a run that have nothing to do if their rows are those of the run before: whatever else may ask for something is quiet."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import extracts, restorations, runs
from shelfsync.catalog.ledger.observations import newest_path
from shelfsync.catalog.ledger.rejections import rejection
from shelfsync.catalog.ledger.tables import batch, run, vendor, vendor_run
from shelfsync.catalog.state import BatchState, RunState, VendorState
from shelfsync.decisions.ledger import approvals
from shelfsync.decisions.state import Subject
from shelfsync.platform.jobs.table import OPEN_STATES, job
from shelfsync.store.bulk import among, any_row, coming
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Quiet:
    """A vendor whose rows are those of its run before, which changed nothing and left nothing."""

    vendor: str
    generation: int
    """Of the reading that was judged; another reading of the run has another one."""
    generation_before: int
    snapshot_path_before: str
    rules_digest_before: str
    observed_path: str | None
    """Lake: the newest export or listing."""


def _left_nothing(before: sa.FromClause) -> Iterator[sa.ColumnElement[bool]]:
    """Whether the run before left the vendor in step with the ERP in every row."""
    yield before.c.state == VendorState.UNCHANGED
    for name in ("failed_step", "erp_path", "restorations", "quarantine_path", "held_path"):
        yield before.c[name].is_(None)
    for name in ("raw_path", "snapshot_path", "raw_digest", "rules_digest"):
        yield before.c[name].is_not(None)
    for column in vendor_run.columns:
        if column.name.startswith("changes_") or column.name in {"rows_quarantined", "values_left_out", "skus_absent"}:
            yield before.c[column.name] == 0


def quiet(connection: Connection, run_id: int, names: Iterable[str], *, approval_hours: float) -> list[Quiet]:
    """Of these vendors those whose rows are the same, and of which nothing asks for anything. Nothing of a dry run, or of a run of some SKUs, is here."""
    row = vendor_run.c
    before = _before(vendor_run)
    statement = (
        sa.select(
            row.vendor,
            row.generation,
            before.c.generation,
            before.c.snapshot_path,
            before.c.rules_digest,
            newest_path(row.vendor),
        )
        .join(run, run.c.run_id == row.run_id)
        .join(vendor, vendor.c.vendor == row.vendor)
        .join(before, sa.true())
        .where(row.run_id == run_id, among(row.vendor, list(names)), sa.not_(run.c.dry_run))
        .where(sa.func.cardinality(run.c.skus) == 0)
        .where(row.state == VendorState.OPEN, row.raw_path.is_not(None), row.snapshot_path.is_(None))
        .where(sa.or_(row.reported_path.is_(None), run.c.kind == "full"))
        .where(sa.func.coalesce(row.raw_digest == before.c.raw_digest, row.raw_path == before.c.raw_path))
        .where(*_left_nothing(before))
        .where(sa.func.coalesce(before.c.base_version, 0) == vendor.c.baseline_version)
        .where(*(sa.not_(one) for one in _asks(row.vendor, approval_hours)))
    )
    return [Quiet(*found) for found in connection.execute(statement)]


@functools.cache
def _before(of: sa.Table) -> sa.FromClause:
    """The last run of a vendor before this one, as one row of an index: the runs of a year are not read for it.

    Made once a process, because SQLAlchemy copies every column of the table for it.
    """
    earlier, of_earlier = vendor_run.alias("earlier"), run.alias("of_earlier")
    return (
        sa.select(earlier)
        .join(of_earlier, of_earlier.c.run_id == earlier.c.run_id)
        .where(earlier.c.vendor == of.c.vendor, earlier.c.generation < of.c.generation, sa.not_(of_earlier.c.dry_run))
        .order_by(earlier.c.generation.desc())
        .limit(1)
        .lateral("before")
    )


def _asks(name: sa.ColumnElement[str], approval_hours: float) -> list[sa.ColumnElement[bool]]:
    """What may ask for something although the rows are the same."""
    other = vendor_run.alias("other")
    full = (
        sa.select(run.c.run_id)
        .where(run.c.kind == "full", run.c.state == RunState.RUNNING, sa.not_(run.c.dry_run), runs.alive())
        .correlate(None)
    )
    full_at_work = sa.exists().where(
        other.c.run_id == sa.any_(sa.func.array(full.scalar_subquery())),  # found once, not for each vendor
        other.c.run_id != vendor_run.c.run_id,
        other.c.vendor == name,
        other.c.state == VendorState.OPEN,
    )
    return [
        sa.exists().where(job.c.vendor == name, job.c.state.in_(OPEN_STATES)),
        sa.exists().where(batch.c.vendor == name, batch.c.state == BatchState.PLANNED),
        any_row(rejection, rejection.c.vendor == name),
        restorations.is_in_force(name),
        extracts.is_unrestored(name),
        approvals.is_concerned(Subject.CATALOG, name, hours=approval_hours),
        full_at_work,
    ]


def repeat(connection: Connection, run_id: int, same: Collection[Quiet]) -> list[str]:
    """Ends the run of these vendors with the results of their run before, and returns their names.

    A vendor that was read again since `quiet` judged it is not among them.
    """
    row, before = vendor_run.c, vendor_run.alias("before")
    judged = [{"vendor": one.vendor, "generation": one.generation, "same_as": one.generation_before} for one in same]
    named = coming(vendor_run, ["vendor", "generation", "same_as"], judged)
    kept = ("snapshot_path", "delta_path", "base_version", "rows_snapshot", "raw_digest", "rules_digest")
    ended = connection.execute(
        vendor_run.update()
        .where(row.run_id == run_id, row.vendor == named.c.vendor, row.generation == named.c.generation)
        .where(row.state == VendorState.OPEN, row.snapshot_path.is_(None))
        .where(before.c.vendor == row.vendor, before.c.generation == named.c.same_as)
        .values(
            **{name: before.c[name] for name in kept},
            same_as=sa.func.coalesce(before.c.same_as, before.c.generation),
            state=VendorState.UNCHANGED,
            updated_at=instant(),
        )
        .returning(row.vendor)
    )
    return list(ended.scalars())
