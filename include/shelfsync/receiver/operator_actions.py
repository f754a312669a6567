"""What an operator does about received events: list them, and process them again. No content of a body is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.inbox import events
from shelfsync.inbox.events import event
from shelfsync.platform.jobs.table import Kind, job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Engine

_WHY_NOT = {
    "order": "is an order event and is not quarantined: its personal data was removed when it was applied, and the DAG orders_history reads the order again",
    "unknown": "is neither a job event nor an order event: it is never processed",
}


def listed(
    engine: Engine,
    *,
    kind: str | None = None,
    only_waiting: bool = False,
    only_quarantined: bool = False,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """The last events, newest first, with the state of a catalog job. `quarantine_reason`: why an event could not be processed."""
    rows = (
        sa.select(
            event.c.event_id,
            event.c.kind,
            event.c.platform_job_id,
            event.c.vendor,
            event.c.received_at,
            event.c.processed_at,
            event.c.quarantine_reason,
            sa.func.length(event.c.body).label("body_bytes"),
            job.c.state.label("job_state"),
        )
        .outerjoin(job, sa.and_(job.c.platform_job_id == event.c.platform_job_id, job.c.kind != Kind.PROMOTION))
        .order_by(event.c.event_id.desc())
        .limit(limit)
    )
    if kind is not None:
        rows = rows.where(event.c.kind == kind)
    if only_waiting:
        rows = rows.where(event.c.processed_at.is_(None))
    if only_quarantined:
        rows = rows.where(event.c.quarantine_reason.is_not(None))
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(rows).mappings()]


def replay(engine: Engine, event_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Marks events as unprocessed, all or none: all events of a job, quarantined events of an order. Idempotent.

    DataError: an event does not exist, or cannot be processed again.
    """
    with engine.begin() as connection:
        rows = {
            row.event_id: row
            for row in connection.execute(
                sa.select(event.c.event_id, event.c.kind, event.c.platform_job_id, event.c.quarantine_reason).where(
                    event.c.event_id.in_(list(event_ids))
                )
            )
        }
        for event_id in event_ids:
            row = rows.get(event_id)
            if row is None:
                raise DataError(f"there is no event {event_id}. `shelfsync inbox list` shows the last ones.")
            if row.kind != "job" and row.quarantine_reason is None:
                raise DataError(f"event {event_id} {_WHY_NOT[row.kind]}. Nothing was replayed.")
        jobs = dict.fromkeys(row.platform_job_id for row in rows.values() if row.kind == "job")
        replayed: list[dict[str, Any]] = [
            {"platform_job_id": platform_job_id, "events": events.replay(connection, platform_job_id)}
            for platform_job_id in jobs
        ]
        others = [row.event_id for row in rows.values() if row.kind != "job"]
        if others:
            replayed.append({"platform_job_id": None, "events": events.replay_orders(connection, others)})
        return replayed
