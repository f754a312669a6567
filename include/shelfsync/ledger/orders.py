"""Orders in the ledger: locked, told of, read. An order moves by its versions alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger import bulk
from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.order_tables import customer_order, order_version

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.engine import Connection


def lock_all(connection: Connection, order_ids: Collection[str]) -> dict[str, dt.datetime]:
    """Rows for all of these orders, new ones too, held until the transaction ends; when each was first heard of.

    They are locked in one order, so that two processes never wait for each other crosswise.
    """
    if not order_ids:
        return {}
    new = bulk.insertion(customer_order, [{"order_id": order_id, "status": ""} for order_id in sorted(order_ids)])
    connection.execute(new.on_conflict_do_nothing())
    found = sa.select(customer_order.c.order_id, customer_order.c.first_seen_at).where(
        bulk.among(customer_order.c.order_id, order_ids)
    )
    rows = connection.execute(found.order_by(customer_order.c.order_id).with_for_update())
    return {row.order_id: row.first_seen_at for row in rows}


def add_versions(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Keeps what was told: columns of `order_version`. The orders of which the same source had not told the same before."""
    made = bulk.insertion(order_version, rows).on_conflict_do_nothing()
    return set(connection.execute(made.returning(order_version.c.order_id)).scalars())


def versions(
    connection: Connection, order_ids: Collection[str], *, known: Collection[tuple[str, str]] = ()
) -> Sequence[Any]:
    """(order_id, source, body) of all that was told of these orders, but for the (source, digest) that the caller has."""
    found = sa.select(order_version.c.order_id, order_version.c.source, order_version.c.body)
    found = found.where(bulk.among(order_version.c.order_id, order_ids))
    for source in {source for source, _ in known}:
        digests = [digest for of, digest in known if of == source]
        mine = sa.and_(order_version.c.source == source, bulk.among(order_version.c.digest, digests))
        found = found.where(~mine)
    return connection.execute(found.order_by(order_version.c.version_id)).all()


def move(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """What these orders are now: columns of `customer_order`, all of the same names; the caller has locked them."""
    moved = [{**row, "cancellation_due": row["status"] == "CANCELLED"} for row in rows]
    connection.execute(bulk.update(customer_order, "order_id", moved))


def _set(connection: Connection, order_id: str, values: dict[str, Any]) -> None:
    connection.execute(customer_order.update().where(customer_order.c.order_id == order_id).values(values))


def was_read_back(connection: Connection, order_id: str) -> None:
    """The platform was asked for it now."""
    _set(connection, order_id, {"read_back_at": instant()})


def was_asked_in_vain(connection: Connection, order_id: str, *, again_after_s: float) -> None:
    """The platform did not say whose it is; others are asked for first. No reading back: what it says of the order is not known."""
    _set(connection, order_id, {"ask_again_at": after(again_after_s)})


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
