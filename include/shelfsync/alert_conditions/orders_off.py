"""Alerts of orders whose steps the settings have switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shelfsync.settings import Settings


def orders_off(settings: Settings) -> list[str]:
    """The kinds of conditions of orders that the settings rule out. If a step goes on to find one all the same, it stays."""
    orders = settings.orders
    ruled_out = {
        "not_taken": not orders.owes_orders,
        "missed": not orders.hands_over,
        "overdue": not orders.hands_over,
        "unreadable": orders.picking_sql is None,
    }
    return [kind for kind, is_off in ruled_out.items() if is_off]
