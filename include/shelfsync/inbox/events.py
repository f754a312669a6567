"""Job events as the flow reads them: whatever came, in whatever order and however often, one word a job.

Reading changes nothing, so it can be done again; an event of a job that nobody knows yet simply stays until somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.inbox.reading import job_word, parse
from shelfsync.inbox.tables import event

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy.engine import Connection

CHANNEL = "shelfsync_inbox"
"""NOTIFY carries the platform's job id here when a new job event is committed; a nudge that may be lost."""
ORDER_CHANNEL = "shelfsync_orders"
"""The same for order events and picking results, without a word of what it is about."""

_JOBS_SET_ASIDE = sa.text("""
SELECT count(*) FILTER (WHERE lately) AS events, count(*) FILTER (WHERE NOT lately) AS before,
       (array_agg(set_aside ORDER BY event_id DESC) FILTER (WHERE lately))[1] AS last
FROM (
    SELECT event_id, set_aside, processed_at >= began_at AS lately
    FROM inbox.event,
        (SELECT coalesce((SELECT started_at FROM ledger.run WHERE run_id = :run), now() - interval '1 day') AS began_at) AS run
    WHERE kind = 'job' AND set_aside IS NOT NULL AND processed_at >= began_at - interval '1 day'
) AS seen
""")

AT_ONCE = 20
"""Events of one job that are looked at together; a flood of them costs no more."""
REASON_CHARACTERS_MAX = 500


@dataclass(frozen=True, slots=True)
class JobEvent:
    """What the platform said of a job, all of it from one event: status and link of two events are never mixed."""

    event_id: int
    platform_job_id: str
    status: str | None
    download_url: str | None = field(repr=False)
    vendor: str | None
    feedback: Any = field(repr=False)
    received_at: dt.datetime
    is_settled: bool


def newest(connection: Connection) -> int:
    """Number of the newest event; what is asked of the platform from now on can only be told by a later one."""
    return int(connection.execute(sa.select(sa.func.max(event.c.event_id))).scalar() or 0)


def of_job(connection: Connection, platform_job_id: str) -> Sequence[Any]:
    """The newest events of a job that are not set aside, as they came: rows for `read_event`."""
    return connection.execute(
        sa.select(event.c.event_id, event.c.platform_job_id, event.c.body, event.c.received_at)
        .where(event.c.kind == "job", event.c.platform_job_id == platform_job_id, event.c.set_aside.is_(None))
        .order_by(event.c.event_id.desc())
        .limit(AT_ONCE)
    ).all()


def read_event(row: Any) -> JobEvent:
    """The event in a row; an UnreadableEventError where there is none."""
    word = job_word(parse(bytes(row.body)))
    return JobEvent(
        event_id=row.event_id,
        platform_job_id=row.platform_job_id,
        status=word.status,
        download_url=word.download_url,
        vendor=word.vendor,
        feedback=word.feedback,
        received_at=row.received_at,
        is_settled=word.is_settled,
    )


def best_first(heard: Iterable[JobEvent]) -> list[JobEvent]:
    """The event that counts most, first.

    One that says the job has ended goes before one that does not, one with a link before one without, then the newest: a
    late QUEUED takes nothing back.
    """
    return sorted(heard, key=lambda one: (*_weight(one), one.event_id), reverse=True)


def set_aside(connection: Connection, event_id: int, reason: str) -> None:
    """The event does not count, and why; a replay lets it count again."""
    this = sa.update(event).where(event.c.event_id == event_id)
    connection.execute(this.values(set_aside=reason[:REASON_CHARACTERS_MAX], processed_at=sa.func.clock_timestamp()))


def unprocessed_jobs(connection: Connection, *, at_most: int = 1000) -> Sequence[str]:
    """Platform job ids with events whose consequences nobody has drawn yet, the longest waiting first."""
    return (
        connection.execute(
            sa.select(event.c.platform_job_id)
            .where(event.c.kind == "job", event.c.processed_at.is_(None))
            .group_by(event.c.platform_job_id)
            .order_by(sa.func.min(event.c.event_id))
            .limit(at_most)
        )
        .scalars()
        .all()
    )


def mark_processed(connection: Connection, platform_job_id: str, *, up_to: int) -> int:
    """Consequences were drawn of the events up to this id, in the caller's transaction; how many were new."""
    return connection.execute(
        sa.update(event)
        .where(
            event.c.kind == "job",
            event.c.platform_job_id == platform_job_id,
            event.c.event_id <= up_to,
            event.c.processed_at.is_(None),
        )
        .values(processed_at=sa.func.clock_timestamp())
    ).rowcount


def replay(connection: Connection, platform_job_id: str) -> int:
    """Has the events of a job processed again; how many. Harmless: processing them twice has one effect."""
    return connection.execute(
        sa.update(event)
        .where(event.c.kind == "job", event.c.platform_job_id == platform_job_id)
        .values(processed_at=None, set_aside=None)
    ).rowcount


def replay_orders(connection: Connection, event_ids: Collection[int]) -> int:
    """Has order events that are set aside processed again; how many."""
    return connection.execute(
        sa.update(event)
        .where(event.c.event_id.in_(list(event_ids)), event.c.set_aside.is_not(None))
        .values(processed_at=None, set_aside=None)
    ).rowcount


def jobs_set_aside(connection: Connection, *, run_id: int | None = None) -> list[str]:
    """One line about the job events that were set aside in the last day; none where there were none.

    `run_id`: about those since this run began, and only if there was none in the day before, so that a spell of them is told once.
    """
    found = connection.execute(_JOBS_SET_ASIDE, {"run": run_id}).one()
    if not found.events or (run_id is not None and found.before):
        return []
    line = (
        f"{found.events:,} events about jobs were set aside, the last because {found.last}. Their jobs end by polling."
    )
    return [f"{line} See `shelfsync inbox list --set-aside` and the runbook of a poisoned event"]


def orders_set_aside(connection: Connection, *, at_most: int) -> list[dict[str, Any]]:
    """(event_id, received_at, set_aside: why) of order events that could not be applied, the longest waiting first."""
    found = sa.select(event.c.event_id, event.c.received_at, event.c.set_aside)
    found = found.where(event.c.kind == "order", event.c.set_aside.is_not(None)).order_by(event.c.event_id)
    return [dict(row) for row in connection.execute(found.limit(at_most)).mappings()]


def count_orders_set_aside(connection: Connection) -> int:
    """How many they are."""
    found = sa.select(sa.func.count()).where(event.c.kind == "order", event.c.set_aside.is_not(None))
    return connection.execute(found).scalar_one()


def _weight(one: JobEvent) -> tuple[bool, bool]:
    return one.is_settled, one.download_url is not None
