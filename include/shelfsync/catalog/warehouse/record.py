"""What the catalog's steps write to the warehouse, always inside the transaction that changes the ledger.

Runs, vendors and jobs mirror the ledger, as declared here. Quarantined rows and outcomes are bulk loads; acknowledged states are in `baseline_history`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import tables as ledger
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.warehouse import tables
from shelfsync.inbox.events import event
from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.table import job as job_table
from shelfsync.store import monthly_partitions
from shelfsync.store.bulk import copy_into
from shelfsync.store.metadata import instant
from shelfsync.store.mirror import Mirror

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa
    from sqlalchemy.engine import Connection


def _sum(column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    """A sum that is 0 over nothing, as an integer (PostgreSQL sums bigints to numeric)."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger)


def _end_reported_by() -> sa.ColumnElement[str | None]:
    job = job_table.c
    by_event = sa.exists().where(event.c.kind == "job", event.c.platform_job_id == job.platform_job_id)
    by_poll = sa.and_(job.polls > 0, sa.func.upper(job.platform_status).in_(("COMPLETED", "FAILED")))
    return sa.case((job.ended_at.is_(None), None), (by_event, "webhook"), (by_poll, "poll"), else_=None)


_run, _vendor_run, _batch, _job = ledger.run.c, ledger.vendor_run.c, ledger.batch.c, job_table.c

VENDOR = Mirror(
    tables.vendor,
    sa.select(ledger.vendor.c.vendor, instant().label("first_seen_at")),
    by=ledger.vendor.c.vendor,
    first_stays=frozenset({"first_seen_at"}),
)
"""Vendors seen in an extract."""

_of_vendors = (
    sa.select(
        sa.func.count().label("vendors"),
        sa.func.count().filter(_vendor_run.state == VendorState.FAILED).label("vendors_failed"),
        _sum(_vendor_run.rows_raw).label("rows_raw"),
        _sum(_vendor_run.rows_quarantined).label("rows_quarantined"),
        _sum(_vendor_run.values_left_out).label("values_left_out"),
        _sum(_vendor_run.changes_new + _vendor_run.changes_changed + _vendor_run.changes_removed).label("skus_changed"),
        _sum(_vendor_run.changes_held).label("skus_held"),
        _sum(_vendor_run.changes_suppressed).label("skus_suppressed"),
    )
    .where(_vendor_run.run_id == _run.run_id)
    .lateral("of_vendors")
)
_of_jobs = (
    sa.select(
        _sum(_job.sent).label("skus_sent"),
        _sum(_job.accepted).label("skus_accepted"),
        _sum(_job.rejected).label("skus_rejected"),
        _sum(_job.unaccounted).label("skus_unaccounted"),
    )
    .join(ledger.batch, _batch.batch_id == _job.batch_id)
    .where(_batch.run_id == _run.run_id)
    .lateral("of_jobs")
)
_names = ("run_id", "run_key", "kind", "dry_run", "state", "error", "started_at", "finished_at")

RUN = Mirror(
    tables.sync_run,
    sa.select(*(_run[name] for name in _names), *_of_vendors.c, *_of_jobs.c).select_from(
        ledger.run.join(_of_vendors, sa.true()).join(_of_jobs, sa.true())
    ),
    by=_run.run_id,
)
"""Runs, with their sums over vendors and jobs."""

JOB = Mirror(
    tables.catalog_job,
    sa.select(
        _job.job_id,
        _batch.run_id,
        _job.vendor,
        _job.platform_job_id,
        _job.state,
        _batch.generation,
        _batch.body_bytes,
        _batch.priority,
        _batch.urgent_count.label("urgent"),
        _batch.wanted_at,
        _job.sent,
        sa.func.coalesce(_job.accepted, 0).label("accepted"),
        sa.func.coalesce(_job.rejected, 0).label("rejected"),
        sa.func.coalesce(_job.unaccounted, 0).label("unaccounted"),
        _job.error,
        _end_reported_by().label("end_reported_by"),
        ledger.extract.c.read_at,
        _job.created_at.label("sent_at"),
        _job.answered_at,
        _job.ended_at,
    )
    .join(ledger.batch, _batch.batch_id == _job.batch_id)
    .outerjoin(
        ledger.vendor_run,
        sa.and_(
            _vendor_run.run_id == _batch.run_id,
            _vendor_run.vendor == _batch.vendor,
            _vendor_run.generation == _batch.generation,
        ),
    )
    .outerjoin(ledger.extract, ledger.extract.c.extract_id == _vendor_run.extract_id),
    by=_job.job_id,
    first_stays=frozenset({"end_reported_by"}),
)
"""Catalog jobs, with their batch and the time of the reading."""


def polled_instead(connection: Connection, run_id: int) -> tuple[int, int]:
    """The jobs of a run whose end the platform reported: how many by a poll, and how many in all."""
    columns = tables.catalog_job.c
    polled = sa.func.count().filter(columns.end_reported_by == "poll")
    row = connection.execute(
        sa.select(polled, sa.func.count(columns.end_reported_by)).where(columns.run_id == run_id)
    ).one()
    return row[0], row[1]


def polled_since(connection: Connection, at: dt.datetime, *, most: int) -> int:
    """How many catalog jobs have ended after an instant by a poll, without any event; counts no further than `most`."""
    polled = sa.and_(_job.kind == Kind.CATALOG, _job.ended_at > at, _end_reported_by() == "poll")
    some = sa.select(_job.job_id).where(polled).limit(most).subquery()
    return connection.execute(sa.select(sa.func.count()).select_from(some)).scalar_one()


def without_repeats(connection: Connection, job_id: int, rows: pa.Table) -> pa.Table:
    """The outcomes of one job but the accepted ones that changed nothing, of which the job keeps the count."""
    import pyarrow.compute as pc

    repeats = pc.and_(pc.equal(rows["state"], "accepted"), pc.equal(rows["change"], "same"))
    number = pc.sum(repeats).as_py() or 0
    job = tables.catalog_job
    connection.execute(job.update().where(job.c.job_id == job_id).values(repeats_removed=number))
    return rows.filter(pc.invert(repeats)) if number else rows


def load_outcomes(connection: Connection, job_id: int, vendor: str, rows: pa.Table, *, first: bool = False) -> None:
    """One row a SKU of one job: sku, state, reason, change and the values sent. A second load of the same job changes nothing.

    `first`: the job had no outcome until now, so that no earlier row is looked for in every month.
    """
    if not first:
        connection.execute(tables.sku_outcome.delete().where(tables.sku_outcome.c.job_id == job_id))
    if rows.num_rows == 0:
        return
    known_at = monthly_partitions.ensure_present(connection, "sku_outcome")
    copy_into(connection, "warehouse.sku_outcome", rows, job_id=job_id, vendor=vendor, known_at=known_at)
