"""Orders in the ledger and their versions. Only a version changes an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.orders.ledger.tables import customer_order, order_version
from shelfsync.store import bulk
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.engine import Connection

OPEN = ("RECEIVED", "ACCEPTED")
"""States of an order that is still to be picked."""


def lock_all(connection: Connection, order_ids: Collection[str]) -> dict[str, dt.datetime]:
    """Locks the rows of these orders until the transaction ends, and creates missing ones; returns when each was first seen.

    The rows are locked in a fixed order, so two processes cannot deadlock.
    """
    if not order_ids:
        return {}
    new = bulk.insertion(customer_order, [{"order_id": order_id, "status": ""} for order_id in sorted(order_ids)])
    connection.execute(new.on_conflict_do_nothing())
    query = sa.select(customer_order.c.order_id, customer_order.c.first_seen_at).where(
        bulk.among(customer_order.c.order_id, order_ids)
    )
    rows = connection.execute(query.order_by(customer_order.c.order_id).with_for_update())
    return {row.order_id: row.first_seen_at for row in rows}


def add_versions(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Stores versions (columns of `order_version`); returns (source, digest) of those that are new, or were received earlier than known.

    A version keeps its earliest receipt, so the sequence in which its events are applied does not matter.
    """
    insertion = bulk.insertion(order_version, rows)
    known = order_version.c
    earlier = insertion.on_conflict_do_update(
        index_elements=[known.order_id, known.source, known.digest],
        set_={name: insertion.excluded[name] for name in ("seen_at", "updated_at", "event_id")},
        where=insertion.excluded.seen_at < known.seen_at,
    )
    stored = connection.execute(earlier.returning(known.source, known.digest))
    return {(row.source, row.digest) for row in stored}


def versions(
    connection: Connection, order_ids: Collection[str], *, known: Collection[tuple[str, str]] = ()
) -> Sequence[Any]:
    """(order_id, source, body, seen_at) of all versions of these orders, except the (source, digest) that the caller has.

    A digest includes the order_id.
    """
    query = sa.select(order_version.c.order_id, order_version.c.source, order_version.c.body, order_version.c.seen_at)
    query = query.where(bulk.among(order_version.c.order_id, order_ids))
    for source in {source for source, _ in known}:
        digests = [digest for of, digest in known if of == source]
        same = sa.and_(order_version.c.source == source, bulk.among(order_version.c.digest, digests))
        query = query.where(~same)
    return connection.execute(query.order_by(order_version.c.version_id)).all()


def move(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Updates these orders (columns of `customer_order`, the same names in each row). The caller has locked them."""
    moved = [{**row, "cancellation_due": row["status"] == "CANCELLED"} for row in rows]
    connection.execute(bulk.update(customer_order, "order_id", moved))


def _set(connection: Connection, order_id: str, values: dict[str, Any]) -> None:
    connection.execute(customer_order.update().where(customer_order.c.order_id == order_id).values(values))


def mark_read_back(connection: Connection, order_id: str) -> None:
    """The order was read back now."""
    _set(connection, order_id, {"read_back_at": instant()})


def record_missing_vendor(connection: Connection, order_id: str, *, again_after_s: float) -> None:
    """The platform did not report the vendor; other orders are requested first. This does not count as a read-back."""
    _set(connection, order_id, {"ask_again_at": after(again_after_s)})


def confirmed(connection: Connection, order_id: str, statuses: Collection[str], since: object | None) -> bool:
    """Whether a version other than the answer to a PUT, not older than `since`, has one of these statuses."""
    query = sa.select(order_version.c.version_id).where(
        order_version.c.order_id == order_id,
        order_version.c.source != "answer",
        order_version.c.status.in_(list(statuses)),
    )
    if since is not None:
        query = query.where(sa.or_(order_version.c.updated_at.is_(None), order_version.c.updated_at >= since))
    return connection.execute(query.limit(1)).one_or_none() is not None
