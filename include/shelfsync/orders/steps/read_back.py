"""The platform's own answer about one order, requested and applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders.steps.apply import apply

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.orders.order_state import OrderState


def read_back(context: Context, order_id: str) -> OrderState:
    """Requests the order and applies it. PartnerError: no answer. NotFoundError: the platform does not know the order."""
    order = context.open_platform().get_order(order_id)
    raw = {**order.raw, "order_id": order_id}  # an answer without it is still about the requested order
    with context.engine.begin() as connection:
        return apply(context, connection, raw, "read_back")
