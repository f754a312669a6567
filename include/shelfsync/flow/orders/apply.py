"""One telling of an order into ledger and warehouse, in the caller's transaction. Whoever told it, however often, the order ends the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.flow.orders.seal import Seal
from shelfsync.ledger import orders
from shelfsync.orders.reading import kept, told
from shelfsync.orders.state import OrderState, state
from shelfsync.warehouse import orders as warehouse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.orders.state import Source, Version


def apply(
    parts: Parts, connection: Connection, raw: Mapping[str, Any], source: Source, *, event_id: int | None = None
) -> OrderState:
    """Keeps a body (parsed, numbers exact) as a version of its order, and moves the order; the order as it is now.

    The personal part is sealed or thrown away here, before anything is written. DataError: the body is no order.
    """
    version, text, personal = told(raw, source)
    order_id = version.order.order_id or ""
    orders.lock_all(connection, [order_id])
    new = orders.add_version(
        connection,
        order_id,
        source=source,
        digest=version.digest,
        status=version.status,
        updated_at=version.updated_at,
        body=text,
        event_id=event_id,
    )
    if source == "read_back":
        orders.was_read_back(connection, order_id)
    now = current(connection, order_id)
    assert now is not None, "a version was just added"
    if new:
        _move(connection, now)
    _keep_customer(parts, connection, now, version, personal)
    return now


def current(connection: Connection, order_id: str) -> OrderState | None:
    """The order as all that was told makes it; None when nothing was."""
    rows = orders.versions(connection, order_id)
    return state([kept(row.body, row.source) for row in rows]) if rows else None


def _move(connection: Connection, now: OrderState) -> None:
    orders.move(
        connection,
        now.order_id,
        {
            "vendor": now.vendor,
            "status": now.status,
            "transport_type": now.transport_type,
            "order_type": now.order_type,
            "order_code": now.order_code,
            "promised_for": now.promised_for,
            "placed_at": now.placed_at,
            "updated_at": now.updated_at,
        },
    )
    warehouse.write(connection, now)


def _keep_customer(
    parts: Parts, connection: Connection, now: OrderState, version: Version, personal: dict[str, Any]
) -> None:
    """What the newest version tells goes before what was known; what only an older one told stays."""
    settings = parts.settings.orders
    seal = Seal(settings)
    if not personal or not seal:
        return
    known = seal.open(warehouse.sealed_customer(connection, now.order_id))
    newest = version.digest == now.ruling.digest
    merged = {**known, **personal} if newest else {**personal, **known}
    if merged == known:
        return
    sealed = seal.close(merged)
    assert sealed is not None, "there is a key"
    since = orders.first_seen(connection, now.order_id)
    warehouse.keep_customer(connection, now.order_id, sealed, since=since, days=settings.personal_days)
