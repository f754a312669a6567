"""Alert `not_read`: the ERP was not read for a long time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.ledger import runs
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def not_read(context: Context, connection: Connection) -> Found:
    """No reading of the ERP for a long time, whatever the cause: a DAG that is off, a scheduler that stands, an ERP that is away."""
    last = runs.newest_reading(connection)
    minutes = context.settings.alerts.unread_minutes
    if last is None:
        return {}
    now = connection.execute(sa.select(instant())).scalar_one()
    if (now - last).total_seconds() <= minutes * 60:
        return {}
    return {
        ("not_read", ""): f"no store was read from the ERP since {display.instant(last)}. See in Airflow whether"
        " catalog_delta_sync and catalog_full_sync are on and run"
    }
