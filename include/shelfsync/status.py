"""status: what every page and `shelfsync status` show first: the vendors, the last runs, and the orders in a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.catalog.steps.status import status as catalog_status
from shelfsync.orders.steps.watch import order_gauges

if TYPE_CHECKING:
    from shelfsync.context import Context


def status(context: Context, *, runs: int = 5) -> dict[str, Any]:
    """What `catalog.steps.status.status` returns, and `"orders": {...}` as `orders.steps.watch.order_gauges` returns it."""
    with context.engine.connect() as connection:
        orders = order_gauges(connection, context.settings.orders)
    return {**catalog_status(context, runs=runs), "orders": orders}
