"""Runs, vendors and jobs in the warehouse: copied from the ledger in the transaction that changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import tables as ledger
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.warehouse import tables
from shelfsync.inbox.tables import event
from shelfsync.platform.jobs.table import job as job_table
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection


def record_vendors(connection: Connection, names: Iterable[str]) -> None:
    """Vendors seen in an extract."""
    rows = [{"vendor": name} for name in names]
    if rows:
        statement = insert(tables.vendor).values(first_seen_at=instant()).on_conflict_do_nothing()
        connection.execute(statement, rows)


def record_run(connection: Connection, run_id: int) -> None:
    """The run as the ledger has it now, with its sums over vendors and jobs."""
    run = ledger.run.c
    sums = _vendor_sums(connection, run_id) | _job_sums(connection, run_id)
    row = connection.execute(sa.select(ledger.run).where(run.run_id == run_id)).mappings().one()
    names = ("run_id", "run_key", "kind", "dry_run", "state", "error", "started_at", "finished_at")
    values = {name: row[name] for name in names} | sums
    _upsert(connection, tables.sync_run, values, key="run_id")


def record_job(connection: Connection, job_id: int) -> None:
    """The job as the ledger has it now."""
    job, batch = job_table.c, ledger.batch.c
    statement = (
        sa.select(
            job.job_id,
            batch.run_id,
            job.vendor,
            job.platform_job_id,
            job.state,
            batch.generation,
            batch.body_bytes,
            batch.priority.label("priority"),
            batch.urgent_count.label("urgent"),
            batch.wanted_at,
            job.sent,
            sa.func.coalesce(job.accepted, 0).label("accepted"),
            sa.func.coalesce(job.rejected, 0).label("rejected"),
            sa.func.coalesce(job.unaccounted, 0).label("unaccounted"),
            job.error,
            _end_reported_by().label("end_reported_by"),
            ledger.extract.c.read_at,
            job.created_at.label("sent_at"),
            job.answered_at,
            job.ended_at.label("ended_at"),
        )
        .join(ledger.batch, batch.batch_id == job.batch_id)
        .outerjoin(
            ledger.vendor_run,
            sa.and_(
                ledger.vendor_run.c.run_id == batch.run_id,
                ledger.vendor_run.c.vendor == batch.vendor,
                ledger.vendor_run.c.generation == batch.generation,
            ),
        )
        .outerjoin(ledger.extract, ledger.extract.c.extract_id == ledger.vendor_run.c.extract_id)
        .where(job.job_id == job_id)
    )
    row = connection.execute(statement).mappings().one()
    values = dict(row)
    first = sa.func.coalesce(tables.catalog_job.c.end_reported_by, values["end_reported_by"])  # the first report counts
    _upsert(connection, tables.catalog_job, values, key="job_id", kept={"end_reported_by": first})


def polled_instead(connection: Connection, run_id: int) -> tuple[int, int]:
    """The jobs of a run whose end the platform reported: how many by a poll, and how many in all."""
    columns = tables.catalog_job.c
    polled = sa.func.count().filter(columns.end_reported_by == "poll")
    row = connection.execute(
        sa.select(polled, sa.func.count(columns.end_reported_by)).where(columns.run_id == run_id)
    ).one()
    return row[0], row[1]


def _end_reported_by() -> sa.ColumnElement[str | None]:
    job = job_table.c
    by_event = sa.exists().where(event.c.kind == "job", event.c.platform_job_id == job.platform_job_id)
    by_poll = sa.and_(job.polls > 0, sa.func.upper(job.platform_status).in_(("COMPLETED", "FAILED")))
    return sa.case((job.ended_at.is_(None), None), (by_event, "webhook"), (by_poll, "poll"), else_=None)


def _upsert(
    connection: Connection, table: sa.Table, values: dict[str, Any], *, key: str, kept: dict[str, Any] | None = None
) -> None:
    rest = {name: value for name, value in values.items() if name != key} | (kept or {})
    statement = insert(table).values(values).on_conflict_do_update(index_elements=[table.c[key]], set_=rest)
    connection.execute(statement)


def _vendor_sums(connection: Connection, run_id: int) -> dict[str, int]:
    row = ledger.vendor_run.c
    statement = sa.select(
        sa.func.count().label("vendors"),
        sa.func.count().filter(row.state == VendorState.FAILED).label("vendors_failed"),
        _sum(row.rows_raw).label("rows_raw"),
        _sum(row.rows_quarantined).label("rows_quarantined"),
        _sum(row.changes_new + row.changes_changed + row.changes_removed).label("skus_changed"),
        _sum(row.changes_held).label("skus_held"),
        _sum(row.changes_suppressed).label("skus_suppressed"),
    ).where(row.run_id == run_id)
    return dict(connection.execute(statement).mappings().one())


def _job_sums(connection: Connection, run_id: int) -> dict[str, int]:
    job = job_table.c
    statement = (
        sa.select(
            _sum(job.sent).label("skus_sent"),
            _sum(job.accepted).label("skus_accepted"),
            _sum(job.rejected).label("skus_rejected"),
            _sum(job.unaccounted).label("skus_unaccounted"),
        )
        .join(ledger.batch, ledger.batch.c.batch_id == job.batch_id)
        .where(ledger.batch.c.run_id == run_id)
    )
    return dict(connection.execute(statement).mappings().one())


def _sum(column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    """A sum that is 0 over nothing, as an integer (PostgreSQL sums bigints to numeric)."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger)
