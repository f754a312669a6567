"""Jobs that update a vendor's products: one a request; the open ones of a vendor are of one plan, held by the database (I5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
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


_ALL = (
    sa.select(*row.columns(CatalogJob), batch.c.run_id, batch.c.generation, batch.c.priority)
    .join(batch, batch.c.batch_id == job.c.batch_id)
    .order_by(job.c.job_id)
)
_OPEN = _ALL.where(job.c.state.in_(OPEN_STATES))
_OF_RUN = batch.c.run_id == sa.bindparam("of_run", type_=sa.BigInteger)
_OF_VENDORS = job.c.vendor == sa.any_(sa.bindparam("of_vendors", type_=ARRAY(sa.Text)))
_OPEN_JOBS = {
    (False, False): _OPEN,
    (True, False): _OPEN.where(_OF_RUN),
    (False, True): _OPEN.where(_OF_VENDORS),
    (True, True): _OPEN.where(_OF_RUN, _OF_VENDORS),
}
"""By whether the jobs are of a run, and of some vendors. Built once: a run that waits sends them again and again."""
_OF_NUMBER = _ALL.where(job.c.job_id == sa.bindparam("of_job", type_=sa.BigInteger))


def open_jobs(
    connection: Connection, *, run_id: int | None = None, vendors: Iterable[str] | None = None
) -> list[CatalogJob]:
    """Every job that has not ended, of a run, of some vendors, or of all."""
    statement = _OPEN_JOBS[run_id is not None, vendors is not None]
    names = None if vendors is None else list(vendors)
    return row.read_all(connection, statement, CatalogJob, {"of_run": run_id, "of_vendors": names})


def read(connection: Connection, job_id: int) -> CatalogJob:
    """The job of this number."""
    return row.read_all(connection, _OF_NUMBER, CatalogJob, {"of_job": job_id})[0]


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
