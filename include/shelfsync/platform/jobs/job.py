"""A job of the platform as the ledger has it, the transitions that every kind shares, what differs between the kinds, and what an error means.

`shelfsync.job_kinds` describes the `JobKind` of each kind; `app` collects them in `Context.kinds`.

Reading a link, an event, a log or an answer may raise anything. An error that does not concern the one job is raised, because it stops every
job alike: the configuration, a pause of the whole platform, an unavailable database. All others stay with the job (I10).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from partner_api.errors import (
    CredentialsError,
    DownloadEmptyError,
    DownloadSlowError,
    DownloadTooLargeError,
    LinkExpiredError,
    LinkNotAllowedError,
    PartnerError,
    ThrottledError,
    UnexpectedAnswerError,
)
from shelfsync.errors import ConfigurationError, DataError, ShelfsyncError, TryAgainError
from shelfsync.platform.jobs.table import UNENDED_STATES, WAITING, Kind, State, job, timing
from shelfsync.store.bulk import coming
from shelfsync.store.engine import is_about_values
from shelfsync.store.lake import OneFileError
from shelfsync.store.metadata import after, instant, together

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping

    from sqlalchemy.engine import Connection
    from sqlalchemy.sql.dml import ReturningUpdate

    from partner_api import PartnerClient
    from shelfsync.platform.jobs.poll_times import PollTimes
    from shelfsync.settings import Settings


ERROR_CHARACTERS_MAX = 1000


@dataclass(frozen=True)
class Job:
    """What every kind has; `poll_due`, `overdue` and the seconds are by the database's clock."""

    job_id: int
    kind: Kind
    state: State
    platform_job_id: str | None
    platform_status: str | None
    result_url: str | None = field(repr=False)
    result_path: str | None
    feedback: list[dict[str, Any]] | None
    attempts: int
    polls: int
    sent: int | None
    error: str | None
    after_event: int | None
    created_at: dt.datetime
    answered_at: dt.datetime | None
    ended_at: dt.datetime | None
    poll_due: bool
    overdue: bool
    wait_s: float
    left_s: float

    @property
    def of_vendor(self) -> str | None:
        """The vendor it is about; None: several. An event that names another vendor is not about this job."""
        return None

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.kind} job {self.job_id}"


J = TypeVar("J", bound=Job)
_OF_JOB = sa.bindparam("of_job", type_=sa.BigInteger)
_POLL_AFTER_S: sa.BindParameter[float] = sa.bindparam("poll_after_s", type_=sa.Double)


def columns(of: type[Job]) -> list[sa.ColumnElement[Any]]:
    """The columns of `ledger.job` that this kind reads, with the flags and seconds."""
    plain = [job.c[name] for name in of.__dataclass_fields__ if name in job.c]
    return [*plain, *timing(job.c.next_poll_at, job.c.deadline_at)]


def read_all(
    connection: Connection, statement: sa.Select[Any], of: type[J], values: Mapping[str, Any] | None = None
) -> list[J]:
    """The jobs that a statement over `columns` finds, in its order. `values`: of the statement's parameters."""
    rows = connection.execute(statement, values or {}).mappings()
    return [of(**{**row, "kind": Kind(row["kind"]), "state": State(row["state"])}) for row in rows]


def state_of(connection: Connection, job_id: int) -> State:
    """The state of a job."""
    return State(connection.execute(sa.select(job.c.state).where(job.c.job_id == job_id)).scalar_one())


def may_have_left(connection: Connection, job_id: int) -> bool:
    """Whether the platform may have accepted an earlier request of this job: no later answer shows that."""
    return int(connection.execute(sa.select(job.c.attempts).where(job.c.job_id == job_id)).scalar_one()) > 1


def attempt(connection: Connection, job_id: int, **values: Any) -> bool:
    """Commits one more attempt to send the request. False: the job has ended, or a newer plan has superseded it."""
    may_leave = job.c.state.in_((State.PLANNED, State.SUBMITTING))
    counted = {"state": State.SUBMITTING, "attempts": job.c.attempts + 1, **values}
    return connection.execute(_this(job_id).where(may_leave).values(counted)).rowcount == 1


def answered(
    connection: Connection, job_id: int, *, platform_job_id: str, status: str | None, poll_after_s: float
) -> bool:
    """The platform accepted the request. False: another job of this kind already has this number, so the answer is wrong."""
    values = {"of_job": job_id, "number": platform_job_id, "status": status, "poll_after_s": poll_after_s}
    try:
        with connection.begin_nested():
            return connection.execute(_answered(), values).rowcount == 1
    except IntegrityError as error:
        if "uq_job_platform_job_id" in str(error.orig):  # another process stores it at this moment
            return False
        raise


@functools.cache
def _answered() -> sa.Update:
    other, number = job.alias("other"), sa.bindparam("number", type_=sa.Text)
    taken = (other.c.platform_job_id == number, other.c.kind == job.c.kind, other.c.job_id != job.c.job_id)
    values = {
        "state": State.OPEN,
        "platform_job_id": number,
        "platform_status": sa.bindparam("status", type_=sa.Text),
        "answered_at": instant(),
        "next_poll_at": after(_POLL_AFTER_S),
        "error": None,
    }
    return job.update().where(job.c.job_id == _OF_JOB, ~sa.exists().where(*taken)).values(values)


def reported(connection: Connection, job_id: int, *, poll_after_s: float, **news: Any) -> bool:
    """When to poll again, and by column what a status call returned; returns whether the job still waited for that.

    A job whose result is known keeps what was reported before: a late answer would put back the link that was removed. A job that
    has ended does not change at all.
    """
    given = {f"new_{name}": value for name, value in news.items()}
    values = {"of_job": job_id, "poll_after_s": poll_after_s, **given}
    return bool(connection.execute(_reported(frozenset(news)), values).scalar_one_or_none())


@functools.cache
def _reported(names: frozenset[str]) -> ReturningUpdate[bool]:
    waits = job.c.state.in_(WAITING)
    news = {
        name: sa.case((waits, sa.bindparam(f"new_{name}", type_=job.c[name].type)), else_=job.c[name]) for name in names
    }
    again = {"polls": job.c.polls + 1, "next_poll_at": after(_POLL_AFTER_S)}
    unended = job.update().where(job.c.job_id == _OF_JOB, job.c.state.in_(UNENDED_STATES))
    return unended.values(news | again).returning(waits)


def fetched(connection: Connection, job_id: int, path: str | None) -> None:
    """Stores the path of the result in the lake: it is fetched once, because links expire. None: the file was no result."""
    connection.execute(_this(job_id).values(result_path=path))


def confirmed(connection: Connection, job_id: int, *also: sa.Update, **values: Any) -> bool:
    """Marks the job as confirmed: its result is known and not applied yet. False: it did not wait for one.

    `also`: what the same statement changes; `values`: further columns, such as the counts.
    """
    known = {"state": State.CONFIRMED, "ended_at": instant(), **values}
    confirms = _this(job_id).where(job.c.state.in_(WAITING)).values(known)
    return connection.execute(together(confirms, *also)).rowcount == 1


def given_back(connection: Connection, job_id: int, error: str) -> None:
    """The platform did nothing: plans the job again, with a new deadline at its next attempt."""
    _write(connection, job_id, state=State.PLANNED, attempts=0, error=error[:ERROR_CHARACTERS_MAX], deadline_at=None)


def failed(connection: Connection, job_id: int, error: str) -> None:
    """Stores the error of a failed step; the state of the job stays."""
    _write(connection, job_id, error=error[:ERROR_CHARACTERS_MAX])


def end(
    connection: Connection, job_id: int, state: State, error: str | None = None, *also: sa.Update, **values: Any
) -> None:
    """Ends it as acknowledged, unconfirmed, failed, rejected or superseded; its link goes. `also`, `values`: as for `confirmed`.

    An error of an earlier step stays, unless the job ends well.
    """
    if error is not None or state == State.ACKNOWLEDGED:
        values["error"] = error and error[:ERROR_CHARACTERS_MAX]
    ended_at = sa.func.coalesce(job.c.ended_at, instant())
    ended = _this(job_id).values(state=state, result_url=None, ended_at=ended_at, **values)
    connection.execute(together(ended, *also))


def end_all(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """The same for many: job_id, state, error, sent, accepted, rejected, unaccounted of each; at least one."""
    cut = [{**row, "error": row["error"] and row["error"][:ERROR_CHARACTERS_MAX]} for row in rows]
    new = coming(job, list(cut[0]), cut)
    kept = sa.and_(new.c.error.is_(None), new.c.state != State.ACKNOWLEDGED)
    counts = {name: new.c[name] for name in ("state", "sent", "accepted", "rejected", "unaccounted")}
    ended = {"result_url": None, "ended_at": sa.func.coalesce(job.c.ended_at, instant())}
    values = {**counts, **ended, "error": sa.case((kept, job.c.error), else_=new.c.error)}
    connection.execute(job.update().where(job.c.job_id == new.c.job_id).values(values))


def _write(connection: Connection, job_id: int, **values: Any) -> None:
    connection.execute(_this(job_id).values(values))


def _this(job_id: int) -> sa.Update:
    return job.update().where(job.c.job_id == job_id)


@dataclass(frozen=True)
class Answer:
    """What a status call returned: the platform's state, a link to the result, per-SKU results, and the result itself as a file."""

    status: str | None
    result_url: str | None = None
    feedback: Any = None
    result: bytes | None = None


@dataclass(frozen=True)
class JobKind:
    """How jobs of one kind are found, polled and ended."""

    kind: Kind
    ended: frozenset[str]
    """The platform's states in which such a job has ended."""
    has_event: bool
    """The platform reports the end by an event as well; otherwise only a status call does."""
    pace: Callable[[Settings], PollTimes]
    has_status_call: Callable[[Settings], bool]
    not_found_is_absent: bool
    """A 404 from a status call that never worked means that the platform has no such call: there are too many jobs to poll each."""
    status: Callable[[PartnerClient, Any], Answer]
    """One status call about a job, charged to its priority."""
    read: Callable[[Connection, int], Job]
    of_run: Callable[[Connection, Any, list[str]], list[Job]]
    """The jobs of a run (its number or key) and some vendors."""


_STATEMENT_CANCELED = "57014"
"""By statement_timeout, as a role of the database may have one: the largest store's statement is too slow for it, and no other."""


def database_is_away(error: Exception) -> bool:
    """Whether the database could not be reached. A value that it rejects (too long for an index) or a statement that took too long does not count."""
    if getattr(getattr(error, "orig", None), "sqlstate", None) == _STATEMENT_CANCELED:
        return False
    return isinstance(error, OperationalError | InterfaceError) and not is_about_values(error)


def stops_every_job(error: Exception) -> bool:
    """Whether the error concerns more than the job in work. A file of the lake is one store's."""
    if isinstance(error, OneFileError):
        return False
    return isinstance(error, ConfigurationError | TryAgainError) or database_is_away(error)


def blames_the_file(error: Exception) -> bool:
    """Whether the file of a link can never be used. A temporary fault (a dead host, a full disk) does not count."""
    if isinstance(error, PartnerError):
        return isinstance(error, LinkNotAllowedError | DownloadTooLargeError | UnexpectedAnswerError)
    if isinstance(error, ShelfsyncError):
        return isinstance(error, DataError)
    return not isinstance(error, OSError | SQLAlchemyError)


def is_final(error: Exception) -> bool:
    """Whether no later try gets a file from the same link: the file cannot be used, is empty or too slow, or the link has expired."""
    return blames_the_file(error) or isinstance(error, LinkExpiredError | DownloadEmptyError | DownloadSlowError)


def stops_every_link(error: Exception) -> bool:
    """Whether every other link of the same job would fail now too."""
    if isinstance(error, PartnerError):
        return isinstance(error, ThrottledError | CredentialsError)
    return not blames_the_file(error)


def reason_of(error: Exception) -> str:
    """The reason in one line that any table and terminal can hold. Of a database error only the kind, because its text quotes values."""
    if isinstance(error, SQLAlchemyError):
        state = getattr(getattr(error, "orig", None), "sqlstate", None)
        return f"{type(error).__name__}{f' (SQLSTATE {state})' if state else ''}: the database does not take it"
    text = " ".join(str(error).split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:ERROR_CHARACTERS_MAX])
    if isinstance(error, ShelfsyncError | PartnerError):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text}"[:ERROR_CHARACTERS_MAX]
