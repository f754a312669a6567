"""Exports as jobs of the platform: one row a vendor and run, committed before the request leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger import observations
from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.metadata import metadata
from shelfsync.ledger.tables import OPEN_JOB_STATES, job

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection


def _time(name: str, comment: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), comment=comment)


export = sa.Table(
    "export",
    metadata,
    sa.Column("export_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Our number of it"),
    sa.Column("run_key", sa.Text, nullable=False, comment="DAG and run id in Airflow, or the command line's own name"),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="planned",
        comment="planned, requesting, open, observed, reconciled or failed",
    ),
    sa.Column("platform_job_id", sa.Text, comment="The platform's number of the job; null until its answer was read"),
    sa.Column("platform_status", sa.Text, comment="The platform's own word for its state, as last heard"),
    sa.Column(
        "log_url",
        sa.Text,
        comment="Where the file can be fetched, as last heard; may be a secret in itself: never logged",
    ),
    sa.Column(
        "polls", sa.Integer, nullable=False, server_default="0", comment="How often the platform was asked about it"
    ),
    sa.Column("last_job_id", sa.BigInteger, comment="Newest job of the vendor when it was asked for; null: none"),
    sa.Column("open_job_id", sa.BigInteger, comment="Job of the vendor that was open when it was asked for"),
    sa.Column(
        "observation_id",
        sa.BigInteger,
        sa.ForeignKey(observations.observation.c.observation_id),
        index=True,
        comment="The picture it became",
    ),
    sa.Column("drifts", sa.BigInteger, comment="Values that differ from what is wanted or was acknowledged"),
    sa.Column("healed", sa.BigInteger, comment="Of them, values that the next delta says again"),
    sa.Column("settled", sa.BigInteger, comment="Values whose lost confirmation the picture stands for"),
    sa.Column("failed_step", sa.Text, comment="The step that failed"),
    sa.Column("error", sa.Text, comment="Why, in one line"),
    _time("requested_at", "When the request was about to leave"),
    _time("answered_at", "When the platform's 202 was read"),
    _time("next_poll_at", "When to ask again"),
    _time("deadline_at", "When waiting ends"),
    _time("ended_at", "When it was observed or given up"),
    sa.Column(
        "after_event",
        sa.BigInteger,
        comment="Newest event of the inbox when the row was committed; an event up to it cannot be about this job",
    ),
    sa.UniqueConstraint("run_key", "vendor"),
    sa.Index("ix_export_vendor", "vendor", "export_id"),
    sa.Index("ix_export_unended", "deadline_at", postgresql_where=sa.text("state NOT IN ('reconciled', 'failed')")),
    sa.Index(
        "uq_export_platform_job_id",
        "platform_job_id",
        unique=True,
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    ),
    sa.CheckConstraint("state IN ('planned', 'requesting', 'open', 'observed', 'reconciled', 'failed')", name="state"),
    schema="ledger",
    comment="One row an export that was asked for",
)


WAITING = ("requesting", "open")
"""The platform has, or may have, the request, and its file is not read yet."""
UNENDED = ("planned", *WAITING, "observed")
LOST_AFTER_S = 600.0
"""A living process ends its export within this time after the deadline."""


@dataclass(frozen=True)
class Export:
    """One row of `ledger.export`; flags and seconds are by the database's clock. To whoever listens for its end it is a job."""

    export_id: int
    run_key: str
    vendor: str
    state: str
    platform_job_id: str | None
    platform_status: str | None
    log_url: str | None
    polls: int
    last_job_id: int | None
    open_job_id: int | None
    observation_id: int | None
    drifts: int | None
    healed: int | None
    settled: int | None
    failed_step: str | None
    error: str | None
    after_event: int | None
    requested_at: dt.datetime | None
    poll_due: bool
    overdue: bool
    wait_s: float
    left_s: float

    @property
    def job_id(self) -> int:
        """Its number, for messages."""
        return self.export_id

    @property
    def feedback(self) -> None:
        """An export says nothing SKU by SKU."""
        return


def _select() -> sa.Select[Any]:
    now = instant()
    plain = [export.c[name] for name in Export.__dataclass_fields__ if name in export.c]
    return sa.select(
        *plain,
        sa.func.coalesce(export.c.next_poll_at <= now, sa.false()).label("poll_due"),
        sa.func.coalesce(export.c.deadline_at <= now, sa.false()).label("overdue"),
        sa.func.greatest(0, sa.func.coalesce(sa.extract("epoch", export.c.next_poll_at - now), 0)).label("wait_s"),
        sa.func.greatest(0, sa.func.coalesce(sa.extract("epoch", export.c.deadline_at - now), 0)).label("left_s"),
    )


def _exports(connection: Connection, statement: sa.Select[Any]) -> list[Export]:
    rows = connection.execute(statement.order_by(export.c.vendor)).mappings()
    return [Export(**{**row, "wait_s": float(row["wait_s"]), "left_s": float(row["left_s"])}) for row in rows]


def plan(connection: Connection, run_key: str, vendors: Iterable[str], *, deadline_s: float) -> None:
    """Notes which vendors are to be exported; one that is known in this run stays as it is."""
    rows = [{"run_key": run_key, "vendor": name} for name in vendors]
    if rows:
        connection.execute(insert(export).values(deadline_at=after(deadline_s)).on_conflict_do_nothing(), rows)


def end_lost(connection: Connection) -> list[str]:
    """Ends the exports that are past their deadline and that no process has ended; their vendors."""
    statement = (
        export.update()
        .where(export.c.state.in_(UNENDED), export.c.deadline_at < after(-LOST_AFTER_S))
        .values(
            failed_step=sa.func.coalesce(export.c.failed_step, "wait"),
            error=sa.func.coalesce(
                export.c.error, "no process has ended it by its deadline; the next export asks anew"
            ),
            **_over(),
        )
        .returning(export.c.vendor)
    )
    return sorted(connection.execute(statement).scalars())


def of_run(connection: Connection, run_key: str, vendors: Iterable[str] | None = None) -> list[Export]:
    """The exports of a run, of some of its vendors or of all, by vendor."""
    statement = _select().where(export.c.run_key == run_key)
    if vendors is not None:
        statement = statement.where(export.c.vendor.in_(list(vendors)))
    return _exports(connection, statement)


def read(connection: Connection, export_id: int) -> Export:
    """The export of this number."""
    return _exports(connection, _select().where(export.c.export_id == export_id))[0]


def begin(connection: Connection, export_id: int, *, deadline_s: float, after_event: int | None = None) -> None:
    """Commits that the request is about to leave, with what the platform has been told of the vendor before it.

    `after_event`: the newest event of the inbox before the first request of this export.
    """
    of_vendor = sa.select(export.c.vendor).where(export.c.export_id == export_id).scalar_subquery()
    last = sa.select(sa.func.max(job.c.job_id)).where(job.c.vendor == of_vendor).scalar_subquery()
    still_open = sa.select(job.c.job_id).where(job.c.vendor == of_vendor, job.c.state.in_(OPEN_JOB_STATES))
    values = {
        "state": "requesting",
        "last_job_id": last,
        "open_job_id": still_open.scalar_subquery(),
        "requested_at": instant(),
        "after_event": sa.func.coalesce(export.c.after_event, after_event),
        "deadline_at": after(deadline_s),
        "failed_step": None,
        "error": None,
    }
    _write(connection, export_id, values)


def answered(
    connection: Connection, export_id: int, *, platform_job_id: str, status: str | None, poll_after_s: float
) -> None:
    """The platform took it. An IntegrityError where another export already has this number."""
    values = {
        "state": "open",
        "platform_job_id": platform_job_id,
        "platform_status": status,
        "answered_at": instant(),
        "next_poll_at": after(poll_after_s),
    }
    _write(connection, export_id, values)


def heard(
    connection: Connection, export_id: int, *, status: str | None, log_url: str | None, poll_after_s: float
) -> None:
    """What a status call said, and when to ask again; nothing once the export has ended, for its link was erased with its end."""
    values: dict[str, Any] = {
        "polls": export.c.polls + 1,
        "platform_status": status,
        "next_poll_at": after(poll_after_s),
    }
    if log_url is not None:
        values["log_url"] = log_url
    connection.execute(
        export.update().where(export.c.export_id == export_id, export.c.state.in_(WAITING)).values(values)
    )


def observed(connection: Connection, export_id: int, observation_id: int) -> None:
    """Its file is read and kept."""
    values = {"state": "observed", "observation_id": observation_id, "log_url": None, "ended_at": instant()}
    _write(connection, export_id, {**values, "failed_step": None, "error": None})


def reconciled(connection: Connection, export_id: int, *, drifts: int, healed: int, settled: int) -> None:
    """It has been compared with what is wanted and what was acknowledged."""
    counts = {"drifts": drifts, "healed": healed, "settled": settled}
    _write(connection, export_id, {"state": "reconciled", **counts, "failed_step": None, "error": None})


def trouble(connection: Connection, export_id: int, step: str, error: str, *, over: bool) -> None:
    """A step failed; `over`: nothing more will come of this export."""
    values: dict[str, Any] = {"failed_step": step, "error": error}
    if over:
        values |= _over()
    _write(connection, export_id, values)


def _over() -> dict[str, Any]:
    """Of an export that is given up; its link may be a secret in itself."""
    return {"state": "failed", "log_url": None, "ended_at": instant()}


def _write(connection: Connection, export_id: int, values: dict[str, Any]) -> None:
    connection.execute(export.update().where(export.c.export_id == export_id).values(values))
