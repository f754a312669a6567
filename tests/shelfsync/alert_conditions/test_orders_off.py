"""Alerts of orders whose steps the settings have switched off."""

from __future__ import annotations

from alert_look import having, older
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.ledger import alerts


def test_alerts_of_orders_end_a_day_after_their_steps_were_switched_off(context):
    with context.engine.begin() as connection:
        found = {("overdue", "store-001"): "late", ("history", "store-001"): "behind"}
        alerts.keep(connection, ("overdue", "history"), found)

    def left(watched=context, **off):
        alert_watch.watch(watched, **off)
        with context.engine.connect() as connection:
            return {row["kind"] for row in alerts.open_alerts(connection)}

    elsewhere = having(context, "orders", hand_over="none")
    assert left(elsewhere, off=["history"]) == {"overdue", "history"}, "another scheduler may go on with the steps"
    older(context, "ledger.alert", "seen_at", 60 * 24)
    assert left(having(context, "orders", hand_over="files")) == {"overdue", "history"}, "they are on, and stand still"
    assert left(elsewhere) == {"history"}
    assert left(elsewhere, off=["history"]) == set()
