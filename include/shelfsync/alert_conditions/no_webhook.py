"""Alert `no_webhook`: since when the webhook counts as silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.warehouse import record
from shelfsync.inbox import events
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


POLLED, WEBHOOK_SILENT_S, WEBHOOK_GONE_S = 5, 3_600.0, 7 * 86_400.0
"""The webhook is silent if so many jobs ended without it, for so long; after a week it counts as switched off."""


def no_webhook(_: Context, connection: Connection) -> Found:
    """Events of jobs came before; since the last one, jobs end by polling alone. The next event ends it."""
    last = events.newest_of_a_job(connection)
    if last is None:
        return {}
    now = connection.execute(sa.select(instant())).scalar_one()
    if not WEBHOOK_SILENT_S < (now - last).total_seconds() < WEBHOOK_GONE_S:
        return {}
    if record.polled_since(connection, last, most=POLLED) < POLLED:
        return {}
    return {
        ("no_webhook", ""): f"the webhook's last event came at {display.instant(last)}, and at least {POLLED} jobs have"
        " ended by polling since"
    }
