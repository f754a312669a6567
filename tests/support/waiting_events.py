"""Which jobs have events that no step has read yet."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.inbox.events import event


def unprocessed_jobs(connection):
    """Platform job ids with unprocessed events, the longest waiting first."""
    waiting = sa.select(event.c.platform_job_id).where(event.c.kind == "job", event.c.processed_at.is_(None))
    ordered = waiting.group_by(event.c.platform_job_id).order_by(sa.func.min(event.c.event_id))
    return connection.execute(ordered).scalars().all()
