"""Which orders are so long past their time that no store gets them any more (SHELFSYNC_ORDERS__LATE_HOURS)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from shelfsync.orders.ledger.tables import customer_order
from shelfsync.store.metadata import after


def expected_at() -> sa.ColumnElement[Any]:
    """When the customer expects the order, as far as known."""
    return sa.func.coalesce(customer_order.c.promised_for, customer_order.c.placed_at, customer_order.c.first_seen_at)


def too_late(late_hours: float) -> sa.ColumnElement[bool]:
    """Whether so many hours have passed since then."""
    return expected_at() <= after(-late_hours * 3600)
