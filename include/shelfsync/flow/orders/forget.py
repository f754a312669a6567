"""forget: everything that tells who a customer is goes, of some orders, everywhere where it is kept here; the orders themselves stay.

May run again at any time. What comes later of such an order (an event, the history) is kept without its customer.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from partner_api import reading
from shelfsync.errors import ConfigurationError
from shelfsync.flow.orders.seal import KEY, Seal
from shelfsync.flow.orders.take import take
from shelfsync.handover.outlet import open_outlet
from shelfsync.inbox.tables import event
from shelfsync.ledger.order_tables import customer_order, hand_over
from shelfsync.ledger.orders import lock_all
from shelfsync.orders.personal import parted
from shelfsync.orders.reading import as_json
from shelfsync.warehouse import orders as warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

_BETWEEN = str.maketrans("", "", " -()/.\t")


def orders_of(parts: Parts, text: str) -> list[str]:
    """The orders whose customer data hold this text as a value: a phone number, a name, a loyalty card. Spaces and case make no difference."""
    seal = Seal(parts.settings.orders)
    if not seal:
        raise ConfigurationError(KEY, "is not set, so no customer can be looked for", "Set it, or name the orders.")
    wanted = _plain(text)
    with parts.engine.connect() as connection:
        return [
            order_id
            for order_id, sealed in warehouse.every_sealed_customer(connection)
            if any(wanted in _plain(value) for value in _values(seal.open(sealed)))
        ]


def forget(parts: Parts, order_ids: Sequence[str]) -> dict[str, Any]:
    """`{"orders", "customers", "events", "documents", "stores"}`: what was removed, and the stores that have been told of the customer."""
    take(parts)  # what waits in the inbox would otherwise be kept a moment later
    ids = sorted({one.strip().lower() for one in order_ids})
    with parts.engine.begin() as connection:
        lock_all(connection, ids)
        customers = warehouse.forget_customers_of(connection, ids, days=parts.settings.orders.personal_days)
        events = sum(_strip_events(connection, order_id) for order_id in ids)
        handed = _handed_over(connection, ids)
    documents = 0
    if outlet := open_outlet(parts.settings):
        try:
            documents = outlet.remove_customers([(row.hand_over_id, row.vendor, row.kind) for row in handed])
        finally:
            outlet.close()
    log.info("forget: %d orders, %d customers, %d events, %d documents", len(ids), customers, events, documents)
    stores = sorted({row.vendor for row in handed if row.kind == "new"})
    return {"orders": ids, "customers": customers, "events": events, "documents": documents, "stores": stores}


def _strip_events(connection: Connection, order_id: str) -> int:
    """Events as they came keep only what tells of nobody, applied or not, readable or not."""
    names = sa.or_(*(sa.func.position(_bytes(one).op("IN")(event.c.body)) > 0 for one in (order_id, order_id.upper())))
    found = sa.select(event.c.event_id, event.c.body).where(event.c.kind.in_(("order", "unknown")), names)
    stripped = 0
    for row in connection.execute(found.with_for_update()).all():
        harmless = as_json(parted(reading.mapping(reading.json_or_none(bytes(row.body))))[0]).encode()
        if harmless != bytes(row.body):
            connection.execute(event.update().where(event.c.event_id == row.event_id).values(body=harmless))
            stripped += 1
    return stripped


def _bytes(text: str) -> sa.ColumnElement[bytes]:
    return sa.literal(text.encode(), sa.LargeBinary)


def _handed_over(connection: Connection, order_ids: Sequence[str]) -> Sequence[Any]:
    """Documents that a store can see, or has."""
    found = (
        sa.select(
            hand_over.c.hand_over_id, hand_over.c.kind, sa.func.coalesce(customer_order.c.vendor, "").label("vendor")
        )
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(hand_over.c.order_id.in_(order_ids), hand_over.c.attempts > 0)
        .order_by(hand_over.c.hand_over_id)
    )
    return connection.execute(found).all()


def _values(value: Any) -> Iterator[str]:
    """Every single value in it, as text."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)
    elif value is not None:
        yield str(value)


def _plain(text: str) -> str:
    return text.translate(_BETWEEN).casefold()
