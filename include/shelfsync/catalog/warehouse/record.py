"""What the catalog's steps write to the warehouse, always inside the transaction that changes the ledger.

Runs, vendors and jobs are copied from the ledger. Quarantined rows, outcomes and acknowledged states are bulk loads, merged by key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import tables as ledger
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.warehouse import tables
from shelfsync.catalog.warehouse.baseline_history import append
from shelfsync.inbox.events import event
from shelfsync.platform.jobs.table import job as job_table
from shelfsync.store import partitions
from shelfsync.store.bulk import copy_into
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
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
        _sum(row.values_left_out).label("values_left_out"),
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


def replace_quarantine(connection: Connection, run_id: int, vendor: str | None, rows: pa.Table) -> None:
    """The quarantined rows of one vendor of one run (None: rows that name no vendor), in place of the earlier ones."""
    table, named = tables.quarantine, vendor or ""
    connection.execute(table.delete().where(table.c.run_id == run_id, table.c.vendor == named))
    unnamed = rows.drop_columns(["vendor"]) if "vendor" in rows.column_names else rows
    copy_into(connection, "warehouse.quarantine", unnamed, run_id=run_id, vendor=named)


def replace_missed(connection: Connection, run_id: int, vendor: str, rows: pa.Table) -> None:
    """What the changes of one vendor had not reported until this run's whole reading (`catalog.changed_rows.MISSED`)."""
    table = tables.missed_change
    connection.execute(table.delete().where(table.c.run_id == run_id, table.c.vendor == vendor))
    copy_into(connection, "warehouse.missed_change", rows, run_id=run_id, vendor=vendor)


def load_outcomes(connection: Connection, job_id: int, vendor: str, rows: pa.Table) -> None:
    """One row a SKU of one job: sku, state, reason, change and the values sent. A second load of the same job changes nothing."""
    connection.execute(tables.sku_outcome.delete().where(tables.sku_outcome.c.job_id == job_id))
    if rows.num_rows == 0:
        return
    known_at = connection.execute(sa.select(instant())).scalar_one()
    partitions.ensure(connection, "sku_outcome", known_at)
    copy_into(connection, "warehouse.sku_outcome", rows, job_id=job_id, vendor=vendor, known_at=known_at)


_MERGE_BASELINE = """
MERGE INTO warehouse.baseline AS held
USING incoming_baseline AS moved ON held.vendor = :vendor AND held.sku = moved.sku
WHEN MATCHED AND (held.price, held.quantity, held.active, held.max_sales_quantity)
    IS DISTINCT FROM (moved.price, moved.quantity, moved.active, moved.max_sales_quantity) THEN UPDATE SET
    price = moved.price, quantity = moved.quantity, active = moved.active,
    max_sales_quantity = moved.max_sales_quantity, job_id = :job_id, acknowledged_at = :at
WHEN NOT MATCHED THEN INSERT (vendor, sku, price, quantity, active, max_sales_quantity, job_id, acknowledged_at)
    VALUES (:vendor, moved.sku, moved.price, moved.quantity, moved.active, moved.max_sales_quantity, :job_id, :at)
"""


_OFF_SALE = sa.text(
    "INSERT INTO incoming_baseline (sku, active)"
    " SELECT sku, false FROM warehouse.baseline WHERE vendor = :vendor AND sku = ANY(CAST(:skus AS text[]))"
)
_LEAVE_BASELINE = sa.text("DELETE FROM warehouse.baseline WHERE vendor = :vendor AND sku = ANY(CAST(:skus AS text[]))")


def move_baseline(connection: Connection, job_id: int, vendor: str, rows: pa.Table, gone: Sequence[str] = ()) -> None:
    """The acknowledged state of the SKUs that one job changed: sku and the four values, whole. A row with equal values stays as it is.

    `gone`: SKUs that neither the ERP nor the platform has. They leave the baseline; their history ends off sale.
    """
    connection.execute(
        sa.text(
            "CREATE TEMPORARY TABLE incoming_baseline"
            " (sku text, price numeric(20, 3), quantity bigint, active boolean, max_sales_quantity bigint) ON COMMIT DROP"
        )
    )
    wanted = ["sku", "price", "quantity", "active", "max_sales_quantity"]
    copy_into(connection, "incoming_baseline", rows.select(wanted))
    if gone:
        connection.execute(_OFF_SALE, {"vendor": vendor, "skus": list(gone)})
    append(connection, vendor, "incoming_baseline", job_id=job_id)
    at = connection.execute(sa.select(instant())).scalar_one()
    connection.execute(sa.text(_MERGE_BASELINE), {"vendor": vendor, "job_id": job_id, "at": at})
    if gone:
        connection.execute(_LEAVE_BASELINE, {"vendor": vendor, "skus": list(gone)})
