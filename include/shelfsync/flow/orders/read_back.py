"""What the platform itself says of an order, when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.flow.orders.apply import apply

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.orders.state import OrderState


def read_back(parts: Parts, order_id: str) -> OrderState:
    """Asks and applies; PartnerError when there is no answer, NotFoundError when the platform does not know the order."""
    order = parts.open_platform().get_order(order_id)
    raw = {**order.raw, "order_id": order_id}  # an answer without it is still about the order that was asked for
    with parts.engine.begin() as connection:
        return apply(parts, connection, raw, "read_back")
