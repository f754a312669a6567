"""Orders in the ledger: locked, told of, read. An order moves by its versions alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.order_tables import customer_order, order_version

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection


def lock(connection: Connection, order_id: str) -> Any | None:
    """The order's row, held until the transaction ends; None when nobody knows the order."""
    return connection.execute(
        sa.select(customer_order).where(customer_order.c.order_id == order_id).with_for_update()
    ).one_or_none()


def lock_all(connection: Connection, order_ids: Collection[str]) -> None:
    """Rows for all of these orders, new ones too, locked in one order, so that two processes never wait for each other crosswise."""
    for order_id in sorted(order_ids):
        made = insert(customer_order).values(order_id=order_id, status="")
        connection.execute(made.on_conflict_do_nothing())
        lock(connection, order_id)


def add_version(
    connection: Connection,
    order_id: str,
    *,
    source: str,
    digest: str,
    status: str,
    updated_at: object,
    body: str,
    event_id: int | None = None,
) -> bool:
    """Keeps what was told; False when the same source had told the same before."""
    values = {
        "order_id": order_id,
        "source": source,
        "digest": digest,
        "status": status,
        "updated_at": updated_at,
        "body": body,
        "event_id": event_id,
    }
    made = insert(order_version).values(values).on_conflict_do_nothing()
    return connection.execute(made.returning(order_version.c.version_id)).one_or_none() is not None


def versions(connection: Connection, order_id: str) -> Sequence[Any]:
    """(source, body) of all that was told of an order."""
    found = sa.select(order_version.c.source, order_version.c.body).where(order_version.c.order_id == order_id)
    return connection.execute(found.order_by(order_version.c.version_id)).all()


def move(connection: Connection, order_id: str, values: dict[str, Any]) -> None:
    """What the order is now."""
    if "status" in values:
        values = {**values, "cancellation_due": values["status"] == "CANCELLED"}
    connection.execute(customer_order.update().where(customer_order.c.order_id == order_id).values(values))


def first_seen(connection: Connection, order_id: str) -> Any:
    """When we first heard of an order that we know; the instant from which its customer's days count."""
    found = sa.select(customer_order.c.first_seen_at).where(customer_order.c.order_id == order_id)
    return connection.execute(found).scalar_one()


def was_read_back(connection: Connection, order_id: str) -> None:
    """The platform was asked for it now."""
    move(connection, order_id, {"read_back_at": instant()})


def was_asked_in_vain(connection: Connection, order_id: str, *, again_after_s: float) -> None:
    """The platform did not say whose it is; others are asked for first. No reading back: what it says of the order is not known."""
    move(connection, order_id, {"ask_again_at": after(again_after_s)})


def confirmed(connection: Connection, order_id: str, statuses: Collection[str], since: object | None) -> bool:
    """Whether somebody but the answer to our own PUT says that the order is in one of these states, in a version not older than `since`."""
    told = sa.select(order_version.c.version_id).where(
        order_version.c.order_id == order_id,
        order_version.c.source != "answer",
        order_version.c.status.in_(list(statuses)),
    )
    if since is not None:
        told = told.where(sa.or_(order_version.c.updated_at.is_(None), order_version.c.updated_at >= since))
    return connection.execute(told.limit(1)).one_or_none() is not None
