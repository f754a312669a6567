"""forget: removes the customer data of some orders everywhere in this installation; the orders themselves stay.

It may run again at any time. Later versions of such an order (event, history) are stored without their customer.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from partner_api import json_values
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.inbox.events import event, forget_identities
from shelfsync.inbox.personal_data import split_personal_data
from shelfsync.orders.customer_removal import LENGTH_MIN, is_about, is_long_enough
from shelfsync.orders.encryption import KEY, CustomerCipher
from shelfsync.orders.ledger.orders import lock_all
from shelfsync.orders.ledger.tables import customer_order, hand_over
from shelfsync.orders.order_state import as_json
from shelfsync.orders.steps.hand_over_channels import open_channel
from shelfsync.orders.steps.take_events import take
from shelfsync.orders.warehouse import record as warehouse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

log = logging.getLogger(__name__)


def orders_of(context: Context, text: str) -> list[str]:
    """The orders whose customer data have a value with this text, without regard to spaces and case.

    `text`: a phone number, a name, a loyalty card. DataError: it is too short. ConfigurationError: there is no key to decrypt with.
    """
    if not is_long_enough(text):
        raise DataError(f"a customer is found by at least {LENGTH_MIN} characters besides spaces, hyphens and brackets")
    cipher = CustomerCipher(context.settings.orders)
    if not cipher:
        raise ConfigurationError(KEY, "is not set, so no customer can be found", "Set it, or name the orders.")
    with context.engine.connect() as connection:
        return [
            order_id
            for order_id, encrypted in warehouse.all_encrypted_customers(connection)
            if is_about(text, cipher.decrypt(encrypted))
        ]


def forget(context: Context, order_ids: Sequence[str]) -> dict[str, Any]:
    """Returns `{"orders", "customers", "events", "documents", "stores"}`: what was removed, and the stores with a document."""
    take(context)  # otherwise a waiting event would be applied a moment later
    ids = sorted({order_id.strip().lower() for order_id in order_ids})
    with context.engine.begin() as connection:
        # `take` locks events before orders, too. Those that came since are stripped here, or by a `take` that waits for the orders.
        events = sum(_strip_events(connection, order_id) for order_id in ids)
        lock_all(connection, ids)
        events += sum(_strip_events(connection, order_id, skip_locked=True) for order_id in ids)
        customers = warehouse.forget_customers_of(connection, ids, days=context.settings.orders.customer_days)
        handed = _handed_over(connection, ids)
    documents = 0
    if channel := open_channel(context.settings):
        try:
            documents = channel.remove_customers([(row.hand_over_id, row.vendor, row.kind) for row in handed])
        finally:
            channel.close()
    log.info("forget: %d orders, %d customers, %d events, %d documents", len(ids), customers, events, documents)
    stores = sorted({row.vendor for row in handed if row.kind == "new"})
    return {"orders": ids, "customers": customers, "events": events, "documents": documents, "stores": stores}


def _strip_events(connection: Connection, order_id: str, *, skip_locked: bool = False) -> int:
    """Reduces every event of the order to its harmless part, whether it is applied or readable or not."""
    names = sa.or_(
        *(sa.func.position(_bytes(spelling).op("IN")(event.c.body)) > 0 for spelling in (order_id, order_id.upper()))
    )
    query = sa.select(event.c.event_id, event.c.body).where(event.c.kind.in_(("order", "unknown")), names)
    stripped = 0
    query = query.order_by(event.c.event_id).with_for_update(skip_locked=skip_locked)
    rows = connection.execute(query).all()
    for row in rows:
        harmless = as_json(
            split_personal_data(json_values.mapping(json_values.json_or_none(bytes(row.body))))[0]
        ).encode()
        if harmless != bytes(row.body):
            connection.execute(event.update().where(event.c.event_id == row.event_id).values(body=harmless))
            stripped += 1
    forget_identities(connection, [row.event_id for row in rows])
    return stripped


def _bytes(text: str) -> sa.ColumnElement[bytes]:
    return sa.literal(text.encode(), sa.LargeBinary)


def _handed_over(connection: Connection, order_ids: Sequence[str]) -> Sequence[Any]:
    """The documents that a store can see or has taken."""
    query = (
        sa.select(
            hand_over.c.hand_over_id, hand_over.c.kind, sa.func.coalesce(customer_order.c.vendor, "").label("vendor")
        )
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(hand_over.c.order_id.in_(order_ids), hand_over.c.attempts > 0)
        .order_by(hand_over.c.hand_over_id)
    )
    return connection.execute(query).all()
