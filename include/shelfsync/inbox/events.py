"""Webhook events: their table, and job events as the steps read them: one report a job, whatever the order and the number of its events.

Reading changes nothing and can be repeated. An event of an unknown job stays until a step reads it.

One LISTEN connection serves all waits of a process: an event in the inbox wakes the wait that it concerns. A notification may be lost.
So every wait reads the tables first, and again every few seconds (I8).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import psycopg
import sqlalchemy as sa

from shelfsync.errors import Alarm
from shelfsync.inbox.event_body import JobReport, job_report, parse
from shelfsync.store.metadata import identity, instant, metadata, moment, text, written

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from sqlalchemy.engine import Connection

log = logging.getLogger(__name__)

event = sa.Table(
    "event",
    metadata,
    identity("event_id", "Order of arrival"),
    text("kind", "job, order or unknown: what the body turned out to be", nullable=False),
    text("identity", "Equal for repeats of the same event; a repeat is not stored twice", nullable=False, unique=True),
    text("platform_job_id", "Jobs: the platform's job id as text; the event may have a number"),
    text("vendor", "The vendor it names, if it names one"),
    sa.Column(
        "body",
        sa.LargeBinary,
        nullable=False,
        comment="The body as received. An order holds personal data; a job may hold a link that is itself a secret",
    ),
    written("received_at", "When it was stored"),
    moment("processed_at", "When it was processed or quarantined; null: not yet, or to be processed again"),
    text(
        "quarantine_reason",
        "Why it could not be processed; its body stays complete until it is replayed; null: it is not quarantined",
    ),
    sa.CheckConstraint("kind IN ('job', 'order', 'unknown')", name="kind"),
    sa.CheckConstraint("kind <> 'job' OR platform_job_id IS NOT NULL", name="job_has_a_number"),
    sa.Index(
        "ix_event_platform_job_id",
        "platform_job_id",
        "event_id",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    ),
    sa.Index("ix_event_of_a_job", "event_id", postgresql_where=sa.text("kind = 'job'")),
    sa.Index("ix_event_unprocessed", "kind", "event_id", postgresql_where=sa.text("processed_at IS NULL")),
    sa.Index("ix_event_quarantined", "kind", "event_id", postgresql_where=sa.text("quarantine_reason IS NOT NULL")),
    schema="inbox",
    comment="One row an event of the platform, committed before the receiver answers; it may arrive before, after or without its job",
)


CHANNEL = "shelfsync_inbox"
"""NOTIFY carries the platform's job id here when a new job event is committed. It may be lost. An id has at most 255 characters
(`TEXT_LENGTH_MAX`), and PostgreSQL takes 8000 bytes."""
ORDER_CHANNEL = "shelfsync_orders"
"""The same for order events and picking results, without a payload."""

_QUARANTINED_JOBS = sa.text("""
SELECT count(*) FILTER (WHERE lately) AS events, count(*) FILTER (WHERE NOT lately) AS before,
       (array_agg(quarantine_reason ORDER BY event_id DESC) FILTER (WHERE lately))[1] AS last
FROM (
    SELECT event_id, quarantine_reason, processed_at >= began_at AS lately
    FROM inbox.event,
        (SELECT coalesce((SELECT started_at FROM ledger.run WHERE run_id = :run), now() - interval '1 day') AS began_at) AS run
    WHERE kind = 'job' AND quarantine_reason IS NOT NULL AND processed_at >= began_at - interval '1 day'
) AS seen
""")

AT_ONCE = 20
"""Events of one job that are read together. A flood of events costs no more."""
_OF_JOBS = sa.text(f"""
SELECT newest.* FROM (SELECT DISTINCT unnest(CAST(:jobs AS text[])) AS job) AS wanted CROSS JOIN LATERAL (
    SELECT event_id, platform_job_id, body, received_at FROM inbox.event
    WHERE kind = 'job' AND platform_job_id = wanted.job AND quarantine_reason IS NULL ORDER BY event_id DESC LIMIT {AT_ONCE}
) AS newest ORDER BY newest.event_id DESC
""")  # noqa: S608
REASON_CHARACTERS_MAX = 500

ANY_JOB = ""
"""A notification that names no job concerns every wait."""
_RECONNECT_S = 2.0
_EARLY_MAX = 1000


@dataclass(frozen=True, slots=True)
class JobEvent(JobReport):
    """The platform's report of a job. All of it comes from one event: status and link of two events are never mixed."""

    event_id: int
    platform_job_id: str
    received_at: dt.datetime


def newest() -> sa.ScalarSelect[Any]:
    """Number of the newest event, as a value of a statement. The result of a request that is sent later can only be in a later event."""
    return sa.select(sa.func.coalesce(sa.func.max(event.c.event_id), 0)).scalar_subquery()


def newest_of_a_job(connection: Connection) -> dt.datetime | None:
    """When the last event of a job was stored; None: none came yet."""
    newest = sa.select(event.c.received_at).where(event.c.kind == "job").order_by(event.c.event_id.desc()).limit(1)
    return connection.execute(newest).scalar_one_or_none()


def of_job(connection: Connection, platform_job_id: str) -> Sequence[Any]:
    """The newest events of a job that are not quarantined, unchanged: rows for `read_event`."""
    return of_jobs(connection, [platform_job_id]).get(platform_job_id, ())


def of_jobs(connection: Connection, platform_job_ids: Collection[str]) -> dict[str, Sequence[Any]]:
    """The same for many jobs in one statement; a job without an event is missing."""
    found: dict[str, list[Any]] = {}
    if platform_job_ids:
        for row in connection.execute(_OF_JOBS, {"jobs": list(platform_job_ids)}):
            found.setdefault(row.platform_job_id, []).append(row)
    return dict(found)


def read_event(row: Any) -> JobEvent:
    """The event in a row. UnreadableEventError: the body is not an event."""
    report = job_report(parse(bytes(row.body)))
    return JobEvent(
        report.status,
        report.download_url,
        report.vendor,
        report.feedback,
        row.event_id,
        row.platform_job_id,
        row.received_at,
    )


def best_first(events: Iterable[JobEvent]) -> list[JobEvent]:
    """The events, the decisive one first.

    Events of ended jobs come first, then events with a link, then the newest. So a late QUEUED changes nothing.
    """
    return sorted(
        events, key=lambda report: (report.has_ended, report.download_url is not None, report.event_id), reverse=True
    )


def quarantine(connection: Connection, event_id: int, reason: str) -> None:
    """Quarantines the event with its reason. A replay clears the quarantine."""
    this = sa.update(event).where(event.c.event_id == event_id)
    connection.execute(
        this.values(quarantine_reason=reason[:REASON_CHARACTERS_MAX], processed_at=sa.func.clock_timestamp())
    )


def mark_processed(connection: Connection, platform_job_id: str, *, up_to: int) -> int:
    """Marks the events up to this id as processed, in the caller's transaction; returns how many were unprocessed."""
    return connection.execute(processed(platform_job_id, up_to=up_to)).rowcount


def processed(platform_job_id: str, *, up_to: int) -> sa.Update:
    """The same as a part of another statement."""
    these = (event.c.kind == "job", event.c.platform_job_id == platform_job_id, event.c.event_id <= up_to)
    unprocessed = sa.update(event).where(*these, event.c.processed_at.is_(None))
    return unprocessed.values(processed_at=sa.func.clock_timestamp())


def replay(connection: Connection, platform_job_id: str) -> int:
    """Marks the events of a job as unprocessed; returns how many. Idempotent: processing them twice has one effect."""
    return _replayed(connection, event.c.kind == "job", event.c.platform_job_id == platform_job_id)


def replay_orders(connection: Connection, event_ids: Collection[int]) -> int:
    """Marks quarantined order events as unprocessed; returns how many."""
    return _replayed(connection, event.c.event_id.in_(list(event_ids)), event.c.quarantine_reason.is_not(None))


def _replayed(connection: Connection, *where: sa.ColumnElement[bool]) -> int:
    replayed = sa.update(event).where(*where).values(processed_at=None, quarantine_reason=None)
    return connection.execute(replayed).rowcount


def forget_identities(connection: Connection, event_ids: Collection[int]) -> None:
    """Replaces the identities of these events: each has a hash of the body, and so of the customer's data."""
    new_identity = sa.literal("forgotten:") + sa.cast(event.c.event_id, sa.Text)
    connection.execute(sa.update(event).where(event.c.event_id.in_(list(event_ids))).values(identity=new_identity))


def quarantined_jobs(connection: Connection, *, run_id: int | None = None) -> list[str]:
    """One line about the job events that were quarantined in the last day; no line if there were none.

    `run_id`: only those since this run began, and only if the day before had none. So a series of them is reported once.
    """
    counts = connection.execute(_QUARANTINED_JOBS, {"run": run_id}).one()
    if not counts.events or (run_id is not None and counts.before):
        return []
    line = f"{counts.events:,} job events were quarantined, the last because {counts.last}. Their jobs end by polling"
    return [Alarm.QUARANTINED.line(f"{line} (`shelfsync inbox list --quarantined`)")]


def quarantined_orders(connection: Connection, *, at_most: int) -> list[dict[str, Any]]:
    """(event_id, received_at, quarantine_reason) of quarantined order events, the longest waiting first."""
    query = sa.select(event.c.event_id, event.c.received_at, event.c.quarantine_reason)
    query = query.where(event.c.kind == "order", event.c.quarantine_reason.is_not(None)).order_by(event.c.event_id)
    return [dict(row) for row in connection.execute(query.limit(at_most)).mappings()]


def count_quarantined_orders(connection: Connection) -> tuple[int, int | None]:
    """(number of quarantined order events, event_id of the newest)."""
    query = sa.select(sa.func.count(), sa.func.max(event.c.event_id))
    count, newest = connection.execute(
        query.where(event.c.kind == "order", event.c.quarantine_reason.is_not(None))
    ).one()
    return count, newest


def unprocessed_orders(connection: Connection) -> tuple[int, float]:
    """How many events of orders wait for their processing, and for how many seconds the oldest has; 0 if none does."""
    oldest_s = sa.func.coalesce(sa.extract("epoch", instant() - sa.func.min(event.c.received_at)), 0.0)
    waiting = sa.select(sa.func.count(), oldest_s).where(event.c.kind == "order", event.c.processed_at.is_(None))
    count, seconds = connection.execute(waiting).one()
    return count, float(seconds)


class Subscription:
    """What one wait pauses on. Notifications that arrive while the wait reads the tables end its next pause."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._early: set[str] = set()
        self._jobs: Collection[str] | None = ()
        self._looking = True

    def look(self) -> None:
        """Call this before each reading of the tables."""
        self._wake.clear()
        self._early.clear()
        self._looking = True

    async def pause(self, seconds: float, jobs: Collection[str] | None) -> None:
        """Ends after `seconds`, or at a notification of one of these jobs of the platform; None: of any."""
        early, self._looking = self.noticed(jobs), False
        if not early:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):  # wait_for may swallow a cancellation that comes with the event
                    await self._wake.wait()

    def noticed(self, jobs: Collection[str] | None) -> bool:
        """Whether a notification of one of these jobs of the platform has come since the last look; None: of any."""
        self._jobs = jobs
        return self._wake.is_set() or any(self._concerned(job) for job in self._early)

    def notify(self, job: str) -> None:
        """A notification arrived."""
        if self._looking:
            self._early.add(job if len(self._early) < _EARLY_MAX else ANY_JOB)
        elif self._concerned(job):
            self._wake.set()

    def _concerned(self, job: str) -> bool:
        return job == ANY_JOB or self._jobs is None or job in self._jobs


class Listener:
    """Listens while a wait is subscribed. After each new connection it wakes every wait: notifications may have been lost."""

    def __init__(self, dsn: str, channel: str) -> None:
        self._dsn = dsn
        self._channel = channel
        self._subscriptions: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def subscribed(self) -> AsyncIterator[Subscription]:
        """A subscription for the duration of the block."""
        subscription = Subscription()
        self._subscriptions.add(subscription)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            if not self._subscriptions and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {self._channel}")
                    self._notify(ANY_JOB)
                    async for notification in connection.notifies():
                        self._notify(notification.payload)
            except (psycopg.Error, OSError) as error:
                log.warning(
                    "wait: no notifications from the database for now (%s); polling the tables instead",
                    type(error).__name__,
                )
            await asyncio.sleep(_RECONNECT_S)

    def _notify(self, job: str) -> None:
        for subscription in self._subscriptions:
            subscription.notify(job)


_listeners: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], Listener]] = WeakKeyDictionary()


def subscribed(dsn: str, channel: str = CHANNEL) -> contextlib.AbstractAsyncContextManager[Subscription]:
    """A subscription to the listener of this event loop for this database and channel."""
    here = _listeners.setdefault(asyncio.get_running_loop(), {})
    return here.setdefault((dsn, channel), Listener(dsn, channel)).subscribed()
