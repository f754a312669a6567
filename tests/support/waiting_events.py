"""Events as the receiver stores them, and which jobs have events that no step has read yet."""

from __future__ import annotations

import json

import sqlalchemy as sa

from shelfsync.inbox.event_body import read
from shelfsync.inbox.events import event


def unprocessed_jobs(connection):
    """Platform job ids with unprocessed events, the longest waiting first."""
    waiting = sa.select(event.c.platform_job_id).where(event.c.kind == "job", event.c.processed_at.is_(None))
    ordered = waiting.group_by(event.c.platform_job_id).order_by(sa.func.min(event.c.event_id))
    return connection.execute(ordered).scalars().all()


def arrive(world, *bodies):
    """Stores events as the receiver does, without the way over HTTP; returns their numbers."""
    numbers = []
    with world.app.context.engine.begin() as connection:
        for body in bodies:
            got = read(json.dumps(body).encode())
            values = {"kind": got.kind, "identity": got.identity, "platform_job_id": got.platform_job_id}
            stored = sa.insert(event).values(**values, vendor=got.vendor, body=got.body).returning(event.c.event_id)
            numbers.append(connection.execute(stored).scalar_one())
    return numbers
