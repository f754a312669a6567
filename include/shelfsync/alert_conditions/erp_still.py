"""Alert `erp_still`: no reading finds a change of the ERP in opening hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.alerts.opening_hours import opened_at
from shelfsync.catalog.ledger import extracts, runs
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def erp_still(context: Context, connection: Connection) -> Found:
    """No extract of any store differs from the one before, for a long time in opening hours: the ERP may be a copy that stands still."""
    settings = context.settings.alerts
    if settings.unchanged_minutes is None:
        return {}
    now = connection.execute(sa.select(instant())).scalar_one()
    opened = opened_at(settings, now, context.settings.time_zone)
    read_at, changed_at = runs.newest_reading(connection), extracts.newest_change(connection)
    if opened is None or read_at is None or changed_at is None:
        return {}
    still_s = (read_at - max(changed_at, opened)).total_seconds()
    if still_s <= settings.unchanged_minutes * 60:
        return {}
    return {
        ("erp_still", ""): f"no reading has found a change of the ERP since {display.instant(changed_at)}; the last"
        f" one was at {display.instant(read_at)}"
    }
