"""Events for a person: what came, what waits, and having a job's events processed again. Nothing of a body is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import ConfigurationError, DataError
from shelfsync.inbox import events
from shelfsync.inbox.tables import event
from shelfsync.ledger.tables import job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Engine

_WHY_NOT = {
    "order": "is an order's and is not set aside: what is personal in it went when it was applied, and the DAG orders_history reads the order again",
    "unknown": "is neither a job's nor an order's: nothing follows from it",
}


class InboxDesk:
    """What `shelfsync inbox` shows and does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def listed(
        self, *, kind: str | None = None, only_waiting: bool = False, only_set_aside: bool = False, limit: int = 50
    ) -> list[dict[str, Any]]:
        """The last events, newest first; of a catalog job its state too. `set_aside`: why an event could not be processed."""
        rows = (
            sa.select(
                event.c.event_id,
                event.c.kind,
                event.c.platform_job_id,
                event.c.vendor,
                event.c.received_at,
                event.c.processed_at,
                event.c.set_aside,
                sa.func.length(event.c.body).label("body_bytes"),
                job.c.state.label("job_state"),
            )
            .outerjoin(job, job.c.platform_job_id == event.c.platform_job_id)
            .order_by(event.c.event_id.desc())
            .limit(limit)
        )
        if kind is not None:
            rows = rows.where(event.c.kind == kind)
        if only_waiting:
            rows = rows.where(event.c.processed_at.is_(None))
        if only_set_aside:
            rows = rows.where(event.c.set_aside.is_not(None))
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(rows).mappings()]

    def grant(self, role: str) -> bool:
        """Gives a role of the database what the receiver needs, and nothing else; True when it was made now."""
        import psycopg

        from shelfsync.inbox.role import grant
        from shelfsync.ledger.engine import libpq_url

        try:
            with psycopg.connect(libpq_url(self._engine)) as connection:
                return grant(connection, role)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                "SHELFSYNC_DATABASE_URL",
                f"names a user that may not do this: {error.diag.message_primary}",
                "Run this command with the owner of the tables, who may make roles.",
            ) from None

    def replay(self, event_ids: Sequence[int]) -> list[dict[str, Any]]:
        """Has events processed again, all or none: of a job all its events, of an order what was set aside; harmless, however often.

        DataError: one is not there, or there is nothing to process again.
        """
        with self._engine.begin() as connection:
            found = {
                row.event_id: row
                for row in connection.execute(
                    sa.select(event.c.event_id, event.c.kind, event.c.platform_job_id, event.c.set_aside).where(
                        event.c.event_id.in_(list(event_ids))
                    )
                )
            }
            for event_id in event_ids:
                one = found.get(event_id)
                if one is None:
                    raise DataError(f"there is no event {event_id}. `shelfsync inbox list` shows the last ones.")
                if one.kind != "job" and one.set_aside is None:
                    raise DataError(f"event {event_id} {_WHY_NOT[one.kind]}. Nothing was replayed.")
            jobs = dict.fromkeys(one.platform_job_id for one in found.values() if one.kind == "job")
            replayed: list[dict[str, Any]] = [
                {"platform_job_id": platform_job_id, "events": events.replay(connection, platform_job_id)}
                for platform_job_id in jobs
            ]
            others = [one.event_id for one in found.values() if one.kind != "job"]
            if others:
                replayed.append({"platform_job_id": None, "events": events.replay_orders(connection, others)})
            return replayed
