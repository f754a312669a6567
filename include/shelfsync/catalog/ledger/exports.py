"""Jobs that export a vendor's assortment: one a vendor and run, planned first, committed again before its request leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from shelfsync.catalog.ledger import observations
from shelfsync.inbox.event_body import ENDED_STATUSES
from shelfsync.inbox.events import event
from shelfsync.platform.jobs import job as row
from shelfsync.platform.jobs.table import OPEN_STATES, UNENDED_STATES, WAITING, Kind, State, job
from shelfsync.store.metadata import after, identity, instant, metadata, moment, number, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

export = sa.Table(
    "export",
    metadata,
    identity("export_id", "Number of the export"),
    text("run_key", "DAG and run id in Airflow, or the command line's own name", nullable=False),
    text("vendor", "The vendor", nullable=False),
    number("last_job_id", "Newest job of the vendor when it was requested; null: none"),
    sa.Column("open_job_ids", ARRAY(sa.BigInteger), comment="Jobs of the vendor that were open when it was requested"),
    number(
        "observation_id",
        "The observed state it became",
        sa.ForeignKey(observations.observation.c.observation_id),
        index=True,
    ),
    number("drifts", "Values that differ from what is wanted or was acknowledged"),
    number("resent", "Of them, values that the next delta sends again"),
    number("confirmed", "Values whose lost confirmation the observed state replaces"),
    number("undecided", "SKUs on or off sale by a sales buffer that is not known: not compared"),
    text("failed_step", "The step that failed"),
    moment("requested_at", "When the request was about to leave"),
    sa.UniqueConstraint("run_key", "vendor"),
    sa.Index("ix_export_vendor", "vendor", "export_id"),
    schema="ledger",
    comment="One row an export that was requested; its job has its state",
)


LOST_AFTER_S = 600.0
"""A living process ends its export within this time after the deadline."""
RUN_MAX_S = 6 * 3600.0
"""The DAG ends a run of exports after so long. Until then an export may wait for its turn in the rate limit."""
_LOST = "no process has ended it by its deadline; the next export requests it anew"


@dataclass(frozen=True)
class ExportJob(row.Job):
    """A job with its row of `ledger.export`."""

    export_id: int
    run_key: str
    vendor: str
    last_job_id: int | None
    open_job_ids: list[int] | None
    observation_id: int | None
    drifts: int | None
    resent: int | None
    confirmed: int | None
    undecided: int | None
    failed_step: str | None
    requested_at: dt.datetime | None

    @property
    def of_vendor(self) -> str:
        return self.vendor

    @property
    def name(self) -> str:
        return f"vendor {self.vendor}, export job {self.job_id}"


def _select() -> sa.Select[Any]:
    names = [name for name in ExportJob.__dataclass_fields__ if name in export.c]
    of_job = [column for column in row.columns(ExportJob) if column.name not in names]
    statement = sa.select(*of_job, *(export.c[name] for name in names))
    return statement.join(export, export.c.export_id == job.c.export_id).where(job.c.kind == Kind.EXPORT)


def plan(connection: Connection, run_key: str, vendors: Iterable[str]) -> None:
    """Commits which vendors are to be exported; one that is known in this run stays as it is. The deadline begins with the request."""
    rows = [{"run_key": run_key, "vendor": name} for name in vendors]
    if not rows:
        return
    statement = insert(export).values(rows).on_conflict_do_nothing().returning(export.c.export_id)
    planned = [
        {"kind": Kind.EXPORT, "state": State.PLANNED, "export_id": number}
        for number in connection.execute(statement).scalars()
    ]
    if planned:
        connection.execute(job.insert().values(created_at=instant()), planned)


def end_lost(connection: Connection) -> list[str]:
    """Ends the exports that no process has ended; their vendors.

    The deadline is that of the platform's answer. Before its request, and after its end on the platform, an export waits for its turn as
    long as its run may last.
    """
    unanswered = sa.and_(job.c.state.in_(WAITING), sa.not_(_ended_by_platform()))
    overdue = sa.and_(unanswered, job.c.deadline_at < after(-LOST_AFTER_S))
    run_is_over = job.c.created_at < after(-RUN_MAX_S - LOST_AFTER_S)
    statement = _select().where(job.c.state.in_(UNENDED_STATES), sa.or_(overdue, run_is_over))
    lost = row.read_all(connection, statement, ExportJob)
    for one in lost:
        fail(connection, one, one.failed_step or "wait", one.error or _LOST, over=True)
    return sorted(one.vendor for one in lost)


def _ended_by_platform() -> sa.ColumnElement[bool]:
    """SQL: whether the platform has reported the end, by an event or when it was polled."""
    of_job = sa.exists().where(event.c.platform_job_id == job.c.platform_job_id, event.c.quarantine_reason.is_(None))
    status = sa.func.coalesce(sa.func.upper(job.c.platform_status), "")
    return sa.or_(status.in_(ENDED_STATUSES), job.c.result_url.is_not(None), of_job.where(event.c.kind == "job"))


def of_run(connection: Connection, run_key: str, vendors: Iterable[str] | None = None) -> list[ExportJob]:
    """The exports of a run, of some of its vendors or of all, by vendor."""
    statement = _select().where(export.c.run_key == run_key)
    if vendors is not None:
        statement = statement.where(export.c.vendor.in_(list(vendors)))
    return row.read_all(connection, statement.order_by(export.c.vendor), ExportJob)


def read(connection: Connection, job_id: int) -> ExportJob:
    """The export job of this number."""
    return row.read_all(connection, _select().where(job.c.job_id == job_id), ExportJob)[0]


def attempt(
    connection: Connection, one: ExportJob, *, deadline_s: float, after_event: sa.ScalarSelect[Any] | None = None
) -> bool:
    """Commits that the request is about to leave, with what was sent of the vendor before it; False: the job has ended.

    `after_event`: the newest event of the inbox before the first request of this export.
    """
    of_vendor = (job.c.kind == Kind.CATALOG, job.c.vendor == one.vendor)
    last = sa.select(sa.func.max(job.c.job_id)).where(*of_vendor).scalar_subquery()
    still_open = sa.select(job.c.job_id).where(*of_vendor, job.c.state.in_(OPEN_STATES))
    before = {
        "last_job_id": last,
        "open_job_ids": sa.func.array(still_open.scalar_subquery()),
        "requested_at": instant(),
    }
    _write(connection, one, failed_step=None, **before)
    first = sa.func.coalesce(job.c.after_event, after_event)
    return row.attempt(connection, one.job_id, after_event=first, deadline_at=after(deadline_s), error=None)


def observed(connection: Connection, one: ExportJob, observation_id: int) -> None:
    """Its file is read and loaded."""
    _write(connection, one, observation_id=observation_id, failed_step=None)
    row.confirmed(connection, one.job_id, result_url=None, error=None)


def reconciled(connection: Connection, one: ExportJob, **counts: int) -> None:
    """It has been compared with what is wanted and what was acknowledged. `counts`: columns of the table."""
    _write(connection, one, **counts, failed_step=None)
    row.end(connection, one.job_id, State.ACKNOWLEDGED)


def fail(connection: Connection, one: ExportJob, step: str, error: str, *, over: bool) -> None:
    """A step failed; `over`: the export is given up."""
    _write(connection, one, failed_step=step)
    if over:
        row.end(connection, one.job_id, State.FAILED, error)
    else:
        row.failed(connection, one.job_id, error)


def _write(connection: Connection, one: ExportJob, **values: Any) -> None:
    connection.execute(export.update().where(export.c.export_id == one.export_id).values(values))
