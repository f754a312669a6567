"""Jobs: one row a request sent, committed before it leaves; at most one open a vendor, held by the database (I5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.tables import OPEN_JOB_STATES, batch, job

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

WAITING = ("submitting", "open")
"""The platform has, or may have, the request, and nothing is known of its outcome."""


@dataclass(frozen=True)
class Job:
    """One row of `ledger.job` with the run and generation of its batch; flags and seconds are by the database's clock."""

    job_id: int
    batch_id: int
    run_id: int
    vendor: str
    generation: int
    lane: str
    platform_job_id: str | None
    state: str
    sent: int
    attempts: int
    polls: int
    platform_status: str | None
    feedback: list[dict[str, Any]] | None
    log_url: str | None
    log_path: str | None
    outcomes_path: str | None
    error: str | None
    after_event: int | None
    created_at: dt.datetime
    answered_at: dt.datetime | None
    settled_at: dt.datetime | None
    poll_due: bool
    overdue: bool
    wait_s: float
    left_s: float


def _select() -> sa.Select[Any]:
    now = instant()
    plain = [job.c[name] for name in Job.__dataclass_fields__ if name in job.c and name != "vendor"]
    return sa.select(
        *plain,
        job.c.vendor,
        batch.c.run_id,
        batch.c.generation,
        batch.c.lane,
        sa.func.coalesce(job.c.next_poll_at <= now, sa.false()).label("poll_due"),
        sa.func.coalesce(job.c.deadline_at <= now, sa.false()).label("overdue"),
        _until(job.c.next_poll_at).label("wait_s"),
        _until(job.c.deadline_at).label("left_s"),
    ).join(batch, batch.c.batch_id == job.c.batch_id)


def _until(moment: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Seconds, never below 0; without end where there is no such moment yet, so that nobody looks again and again for it."""
    ahead_s = sa.cast(sa.extract("epoch", moment - instant()), sa.Double)
    return sa.func.greatest(0.0, sa.func.coalesce(ahead_s, sa.cast("Infinity", sa.Double)))


def _jobs(connection: Connection, statement: sa.Select[Any]) -> list[Job]:
    rows = connection.execute(statement.order_by(job.c.job_id)).mappings()
    return [Job(**{**row, "wait_s": float(row["wait_s"]), "left_s": float(row["left_s"])}) for row in rows]


def open_job_of(connection: Connection, vendor: str) -> Job | None:
    """The one job of this vendor that keeps others from being sent, or None."""
    found = _jobs(connection, _select().where(job.c.vendor == vendor, job.c.state.in_(OPEN_JOB_STATES)))
    return found[0] if found else None


def open_jobs(connection: Connection, *, run_id: int | None = None, vendors: Iterable[str] | None = None) -> list[Job]:
    """Every job that is not at its end, of a run, of some vendors, or of all."""
    statement = _select().where(job.c.state.in_(OPEN_JOB_STATES))
    if run_id is not None:
        statement = statement.where(batch.c.run_id == run_id)
    if vendors is not None:
        statement = statement.where(job.c.vendor.in_(list(vendors)))
    return _jobs(connection, statement)


def read(connection: Connection, job_id: int) -> Job:
    """The job of this number."""
    return _jobs(connection, _select().where(job.c.job_id == job_id))[0]


def begin(
    connection: Connection,
    *,
    batch_id: int,
    vendor: str,
    sent: int,
    deadline_s: float,
    after_event: int | None = None,
) -> int | None:
    """Commits the intention to send: the job's number, or None when the vendor has an open job (the database says so).

    `after_event`: the newest event of the inbox; what came up to it cannot be about this job.
    """
    deadline = after(deadline_s)
    values = {"batch_id": batch_id, "vendor": vendor, "sent": sent, "created_at": instant(), "deadline_at": deadline}
    values["after_event"] = after_event
    try:
        with connection.begin_nested():
            return int(connection.execute(job.insert().values(values).returning(job.c.job_id)).scalar_one())
    except IntegrityError as error:
        if "uq_job_open" in str(error.orig):
            return None
        raise


def count_attempt(connection: Connection, job_id: int) -> None:
    """One more time the request leaves."""
    connection.execute(job.update().where(job.c.job_id == job_id).values(attempts=job.c.attempts + 1))


def answered(
    connection: Connection, job_id: int, *, platform_job_id: str, status: str | None, poll_after_s: float
) -> bool:
    """The platform took it; False when another job already has this number, so that the answer cannot be believed."""
    now = instant()
    values = {
        "state": "open",
        "platform_job_id": platform_job_id,
        "platform_status": status,
        "answered_at": now,
        "next_poll_at": after(poll_after_s),
    }
    try:
        with connection.begin_nested():
            connection.execute(job.update().where(job.c.job_id == job_id).values(values))
    except IntegrityError:
        return False
    return True


def heard(
    connection: Connection,
    job_id: int,
    *,
    status: str | None,
    log_url: str | None,
    feedback: list[dict[str, Any]] | None,
    poll_after_s: float,
) -> None:
    """What a status call said, and when to ask again.

    What it said is kept while the job waits for it: an answer that comes after the job's end would put back the link that was erased.
    """
    told: dict[str, Any] = {"platform_status": status}
    if log_url is not None:
        told["log_url"] = log_url
    if feedback is not None:
        told["feedback"] = feedback
    this = job.update().where(job.c.job_id == job_id)
    connection.execute(this.where(job.c.state.in_(WAITING)).values(told))
    again = {"polls": job.c.polls + 1, "next_poll_at": after(poll_after_s)}
    connection.execute(this.where(job.c.state.in_(OPEN_JOB_STATES)).values(again))


def keep_log(connection: Connection, job_id: int, path: str | None) -> None:
    """Where the log lies in the lake: it is fetched once, links expire. None: what was fetched was no log."""
    connection.execute(job.update().where(job.c.job_id == job_id).values(log_path=path))


def confirmed(
    connection: Connection,
    job_id: int,
    *,
    outcomes_path: str,
    accepted: int,
    refused: int,
    unaccounted: int,
    urgent_accepted: int | None = None,
) -> None:
    """Its outcomes are known; the baseline has not moved yet."""
    values = {
        "state": "confirmed",
        "outcomes_path": outcomes_path,
        "accepted": accepted,
        "refused": refused,
        "unaccounted": unaccounted,
        "urgent_accepted": urgent_accepted,
        "settled_at": instant(),
    }
    connection.execute(job.update().where(job.c.job_id == job_id, job.c.state.in_(WAITING)).values(values))


def end(connection: Connection, job_id: int, state: str, error: str | None = None) -> None:
    """Ends a job as acknowledged, unconfirmed, failed, refused or superseded."""
    values: dict[str, Any] = {
        "state": state,
        "log_url": None,
        "settled_at": sa.func.coalesce(job.c.settled_at, instant()),
    }
    if error is not None:
        values["error"] = error
    connection.execute(job.update().where(job.c.job_id == job_id).values(values))


def unaccounted_of(connection: Connection, job_id: int) -> int:
    """SKUs of this job of which the platform said nothing."""
    return int(connection.execute(sa.select(job.c.unaccounted).where(job.c.job_id == job_id)).scalar_one() or 0)
