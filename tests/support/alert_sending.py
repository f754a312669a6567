"""Alerts of late stores that are sent, and time that passes, for tests of routes and mutes."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.ledger.tables import alert, alert_message, alert_mute
from shelfsync.alerts.steps import send_due


def found(context, **messages):
    """Keeps these alerts of stores that are late, and sends."""
    with context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {("store_late", name): text for name, text in messages.items()})
    return send_due.send_due(context)


def pass_time(context, minutes):
    """So many minutes pass: all that is stored is as much older."""
    with context.engine.begin() as connection:
        for table in (alert, alert_message, alert_mute):
            names = [column.name for column in table.columns if isinstance(column.type, sa.DateTime)]
            older = {name: table.c[name] - sa.func.make_interval(0, 0, 0, 0, 0, minutes) for name in names}
            connection.execute(table.update().values(older))
