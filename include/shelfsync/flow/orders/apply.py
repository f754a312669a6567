"""What was told of orders into ledger and warehouse, in the caller's transaction. Whoever told it, however often, an order ends the same."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.flow.orders.seal import Seal
from shelfsync.ledger import orders
from shelfsync.ledger.faults import is_database_trouble, reason
from shelfsync.orders.reading import kept, told
from shelfsync.orders.state import OrderState, newest_last, state
from shelfsync.warehouse import orders as warehouse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.orders.state import Source, Version


@dataclass(frozen=True, slots=True)
class Telling:
    """One order, told once: `text` is what may be kept of it, `personal` the rest. `event_id`: the event of the inbox that told it."""

    version: Version
    text: str
    personal: dict[str, Any] = field(repr=False)
    event_id: int | None = None

    @classmethod
    def of(cls, raw: Mapping[str, Any], source: Source, *, event_id: int | None = None) -> Telling:
        """Out of a body that was parsed with exact numbers. DataError: the body is no order."""
        return cls(*told(raw, source), event_id)

    @property
    def order_id(self) -> str:
        return self.version.order.order_id or ""


def apply(parts: Parts, connection: Connection, raw: Mapping[str, Any], source: Source) -> OrderState:
    """Keeps one telling, and moves its order; the order as it is now. DataError: the body is no order."""
    telling = Telling.of(raw, source)
    return apply_all(parts, connection, [telling], Seal(parts.settings.orders))[telling.order_id]


def apply_all(parts: Parts, connection: Connection, tellings: Sequence[Telling], seal: Seal) -> dict[str, OrderState]:
    """Keeps all of them as versions of their orders, and moves the orders; by order_id, the orders as they are now.

    The personal parts are sealed or thrown away here, before anything is written.
    """
    of_order: dict[str, list[Telling]] = {}
    for one in tellings:
        of_order.setdefault(one.order_id, []).append(one)
    first_seen = orders.lock_all(connection, of_order)
    new = orders.add_versions(connection, [_row(one) for one in tellings])
    for order_id in {one.order_id for one in tellings if one.version.source == "read_back"}:
        orders.was_read_back(connection, order_id)
    before = _versions(connection, of_order, known=[(one.version.source, one.version.digest) for one in tellings])
    now = {
        order_id: state([*before.get(order_id, ()), *(one.version for one in mine)])
        for order_id, mine in of_order.items()
    }
    moved = [now[order_id] for order_id in of_order if order_id in new]
    if moved:
        orders.move(connection, [_moved(one) for one in moved])
        warehouse.write(connection, moved)
    if seal:
        _keep_customers(parts, connection, of_order, before, first_seen, seal)
    return now


def apply_each(
    parts: Parts, connection: Connection, tellings: Sequence[Telling], seal: Seal
) -> tuple[dict[str, OrderState], list[tuple[Telling, str]]]:
    """The same, but one that fails stops no other, whatever it raises: (orders as they are now, what is not applied and why).

    A batch that fails leaves nothing behind and is applied in halves, down to the telling that makes it fail.
    """
    if not tellings:
        return {}, []
    try:
        with connection.begin_nested():
            return apply_all(parts, connection, tellings, seal), []
    except Exception as error:
        if is_database_trouble(error):
            raise
        if len(tellings) == 1:
            return {}, [(tellings[0], reason(error))]
    middle = len(tellings) // 2
    now, failed = apply_each(parts, connection, tellings[:middle], seal)
    later, failed_too = apply_each(parts, connection, tellings[middle:], seal)
    return now | later, failed + failed_too


def current(connection: Connection, order_id: str) -> OrderState | None:
    """The order as all that was told makes it; None when nothing was."""
    versions = _versions(connection, [order_id]).get(order_id)
    return state(versions) if versions else None


def _versions(
    connection: Connection, order_ids: Collection[str], *, known: Collection[tuple[str, str]] = ()
) -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = {}
    for row in orders.versions(connection, order_ids, known=known):
        found.setdefault(row.order_id, []).append(kept(row.body, row.source))
    return found


def _row(one: Telling) -> dict[str, Any]:
    version = one.version
    return {
        "order_id": one.order_id,
        "source": version.source,
        "digest": version.digest,
        "status": version.status,
        "updated_at": version.updated_at,
        "body": one.text,
        "event_id": one.event_id,
    }


def _moved(now: OrderState) -> dict[str, Any]:
    return {
        "order_id": now.order_id,
        "vendor": now.vendor,
        "status": now.status,
        "transport_type": now.transport_type,
        "order_type": now.order_type,
        "order_code": now.order_code,
        "promised_for": now.promised_for,
        "placed_at": now.placed_at,
        "updated_at": now.updated_at,
    }


def _keep_customers(
    parts: Parts,
    connection: Connection,
    of_order: Mapping[str, Sequence[Telling]],
    before: Mapping[str, Sequence[Version]],
    first_seen: Mapping[str, dt.datetime],
    seal: Seal,
) -> None:
    """What a newer version tells goes before what an older one told; what only the older one told stays."""
    personal = [order_id for order_id, mine in of_order.items() if any(one.personal for one in mine)]
    sealed = warehouse.sealed_customers(connection, personal) if personal else {}
    days = dt.timedelta(days=parts.settings.orders.personal_days)
    rows = []
    for order_id in personal:
        known = seal.open(sealed.get(order_id))
        merged = _merged(known, before.get(order_id, ()), of_order[order_id])
        if merged != known:
            row = {"order_id": order_id, "sealed": seal.close(merged), "remove_at": first_seen[order_id] + days}
            rows.append(row)
    if rows:
        warehouse.keep_customers(connection, rows)


def _merged(known: dict[str, Any], before: Sequence[Version], mine: Sequence[Telling]) -> dict[str, Any]:
    """`known` is as new as the newest of the versions before."""
    versions = [one.version for one in mine]
    personal = {id(one.version): one.personal for one in mine}
    if before:
        versions.append(newest_last(before)[-1])
        personal[id(versions[-1])] = known
    merged: dict[str, Any] = {} if before else dict(known)
    for version in newest_last(versions):
        merged |= personal[id(version)]
    return merged
