"""Jobs that update a vendor's products: one a request; the open ones of a vendor are of one plan, held by the database (I5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from shelfsync.catalog.ledger.tables import batch
from shelfsync.catalog.ledger.tables import vendor as vendor_table
from shelfsync.platform.jobs import job as row
from shelfsync.platform.jobs.table import OPEN_STATES, Kind, State, job
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class CatalogJob(row.Job):
    """A job with run, generation and priority of its batch."""

    batch_id: int
    run_id: int
    vendor: str
    plan: int
    generation: int
    priority: str
    sent: int
    unaccounted: int | None
    outcomes_path: str | None

    @property
    def of_vendor(self) -> str:
        return self.vendor

    @property
    def name(self) -> str:
        return f"vendor {self.vendor}, job {self.job_id}"


def _select() -> sa.Select[Any]:
    of_batch = (batch.c.run_id, batch.c.generation, batch.c.priority)
    return sa.select(*row.columns(CatalogJob), *of_batch).join(batch, batch.c.batch_id == job.c.batch_id)


def _read(connection: Connection, statement: sa.Select[Any]) -> list[CatalogJob]:
    return row.read_all(connection, statement.order_by(job.c.job_id), CatalogJob)


def open_jobs(
    connection: Connection, *, run_id: int | None = None, vendors: Iterable[str] | None = None
) -> list[CatalogJob]:
    """Every job that has not ended, of a run, of some vendors, or of all."""
    statement = _select().where(job.c.state.in_(OPEN_STATES))
    if run_id is not None:
        statement = statement.where(batch.c.run_id == run_id)
    if vendors is not None:
        statement = statement.where(job.c.vendor.in_(list(vendors)))
    return _read(connection, statement)


def read(connection: Connection, job_id: int) -> CatalogJob:
    """The job of this number."""
    return _read(connection, _select().where(job.c.job_id == job_id))[0]


def begin(
    connection: Connection,
    *,
    batch_id: int,
    vendor: str,
    plan: int,
    sent: int,
    deadline_s: float,
    after_event: sa.ScalarSelect[Any] | None = None,
) -> int | None:
    """Commits the intention to send, and counts it as an attempt. Returns the job's number, or None if an open job forbids it (I5).

    An open job of this batch, or of another plan of the vendor, forbids it; then nothing of the transaction is written. `after_event`: the
    newest event of the inbox; events up to it cannot be about this job.
    """
    values = {
        "kind": Kind.CATALOG,
        "state": State.SUBMITTING,
        "batch_id": batch_id,
        "vendor": vendor,
        "plan": plan,
        "sent": sent,
        "created_at": instant(),
        "deadline_at": after(deadline_s),
        "after_event": after_event,
        "attempts": 1,
    }
    of_vendor = sa.and_(vendor_table.c.vendor == vendor, vendor_table.c.open_plan.is_distinct_from(plan))
    try:
        opened = vendor_table.update().where(of_vendor).values(open_plan=plan).cte("opened")
        begun = job.insert().values(values).returning(job.c.job_id).add_cte(opened)
        return int(connection.execute(begun).scalar_one())
    except IntegrityError as error:
        if any(name in str(error.orig) for name in ("fk_job_one_open_plan", "uq_job_open_batch")):
            return None
        raise


def newest(connection: Connection) -> int:
    """The number of the newest job; 0: there is none."""
    return int(connection.execute(sa.select(sa.func.coalesce(sa.func.max(job.c.job_id), 0))).scalar_one())


def ended_without_result(connection: Connection, batch_ids: Iterable[int]) -> set[int]:
    """Of these batches those whose job ended without an outcome for any SKU."""
    these = (job.c.batch_id.in_(list(batch_ids)), job.c.state == State.UNCONFIRMED)
    return set(connection.execute(sa.select(job.c.batch_id).where(*these)).scalars())


def failed_before(connection: Connection, one: CatalogJob) -> bool:
    """Whether another job of the same generation, of a batch that was not cut from another, has ended without a result."""
    others = (
        sa.select(job.c.job_id)
        .join(batch, batch.c.batch_id == job.c.batch_id)
        .where(
            job.c.vendor == one.vendor,
            batch.c.generation == one.generation,
            job.c.state == State.UNCONFIRMED,
            job.c.job_id != one.job_id,
            batch.c.halved_from.is_(None),
        )
    )
    return bool(connection.execute(sa.select(others.exists())).scalar_one())
