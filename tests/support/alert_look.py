"""What a look of the watch finds, for tests of conditions: open alerts, other settings, older rows."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.ledger import alerts

PRODUCT = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def kinds(context):
    alert_watch.watch(context)
    with context.engine.connect() as connection:
        return {(row["kind"], row["subject"]) for row in alerts.open_alerts(connection)}


def revision(context, kind):
    with context.engine.connect() as connection:
        [row] = [row for row in alerts.open_alerts(connection) if row["kind"] == kind]
    return row["revision"]


def having(context, section, **settings):
    """The same with other settings of a section."""
    changed = getattr(context.settings, section).model_copy(update=settings)
    return dataclasses.replace(context, settings=context.settings.model_copy(update={section: changed}))


def with_alerts(context, **settings):
    return having(context, "alerts", **settings)


def older(context, table, column, minutes):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(f"UPDATE {table} SET {column} = {column} - make_interval(mins => :m)"), {"m": minutes}
        )


def lines(context):
    with context.engine.connect() as connection:
        return {row["kind"]: row["message"] for row in alerts.open_alerts(connection)}


def acknowledged(context):
    with context.engine.connect() as connection:
        return {row["kind"]: row["acknowledged_by"] for row in alerts.open_alerts(connection)}


def take_on(context):
    with context.engine.begin() as connection:
        alerts.acknowledge(connection, [row["alert_id"] for row in alerts.open_alerts(connection)], who="ada")
