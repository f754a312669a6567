"""Alerts about one store: `store_late`, `store_failed`, `unaccounted`, `rows_quarantined`, by one look at the status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.alert_conditions.failed_while_away import while_away
from shelfsync.alert_conditions.rows_quarantined import rows_quarantined
from shelfsync.alert_conditions.run_failed import newest_failed
from shelfsync.alert_conditions.store_failed import store_failed
from shelfsync.alerts.ledger import alerts
from shelfsync.catalog.ledger.tables import run
from shelfsync.catalog.steps.status import status
from shelfsync.catalog.store_condition import is_late
from shelfsync.store.bulk import among

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def stores(context: Context, connection: Connection) -> Found:
    """Stores whose changes wait too long, whose last run failed, with SKUs of unknown outcome, or with too many rows in quarantine.

    A store that the settings leave out is none of them.

    A store's run is no condition of its own if the whole run failed, or if the service was away that its step needs.
    """
    found: dict[tuple[str, str], str] = {}
    away, failed = while_away(connection), {one.run_id for one in newest_failed(connection)}
    wanted = context.settings.sync.vendors
    rows = [row for row in status(context, runs=0)["vendors"] if not wanted or row["vendor"] in wanted]
    of_failed = among(run.c.run_id, {row["last_run"] for row in rows if row["last_state"] == "failed"})
    columns = (run.c.run_id, run.c.started_at, run.c.finished_at)
    times = {row.run_id: row for row in connection.execute(sa.select(*columns).where(of_failed))}
    late_s = context.settings.alerts.late_minutes * 60
    share = context.settings.alerts.quarantined_share
    crowded = {one["subject"] for one in alerts.open_alerts(connection, ("rows_quarantined",))}
    for row in rows:
        vendor, oldest = row["vendor"], row["oldest_unacknowledged_s"]
        if is_late(row, late_s=late_s):
            found["store_late", vendor] = (
                f"{vendor}: the oldest change of the ERP waits for {oldest / 60:.0f} minutes"
                f" ({row['pending'] or 0:,} to be sent, {row['in_flight'] or 0:,} on their way)"
            )
        if row["last_run"] not in failed and (line := store_failed(row, times, away)):
            found["store_failed", vendor] = line
        if line := rows_quarantined(connection, row, share, is_open=vendor in crowded):
            found["rows_quarantined", vendor] = line
        if row["unconfirmed"]:
            found["unaccounted", vendor] = (
                f"{vendor}: the platform did not report what became of {row['unconfirmed']:,} SKUs"
            )
    return found
