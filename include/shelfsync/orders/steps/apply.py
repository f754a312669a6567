"""Stores received versions of orders in ledger and warehouse, in the caller's transaction.

Neither the sequence of the versions, nor repeats, nor their sources change the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.orders.customer_removal import remove_at
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.ledger import orders
from shelfsync.orders.order_state import OrderState, load_version, oldest_first, parse_version, state
from shelfsync.orders.warehouse import record as warehouse
from shelfsync.store.engine import is_database_trouble, reason
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.orders.order_state import Source, Version

_MOVED = (
    *("order_id", "vendor", "status", "transport_type", "order_type", "order_code"),
    *("promised_for", "placed_at", "updated_at", "has_odd_time"),
)
"""Columns of an order in the ledger that follow from its versions."""


@dataclass(frozen=True, slots=True)
class ReceivedOrder:
    """One received version. `text`: its harmless part; `personal`: the rest. `event_id`: its event in the inbox."""

    version: Version
    text: str
    personal: dict[str, Any] = field(repr=False)
    event_id: int | None = None

    @classmethod
    def parse(
        cls, raw: Mapping[str, Any], source: Source, received_at: dt.datetime, *, event_id: int | None = None
    ) -> ReceivedOrder:
        """From a body that was parsed with exact numbers. DataError: the body is no order."""
        return cls(*parse_version(raw, source, received_at), event_id)

    @property
    def order_id(self) -> str:
        return self.version.order.order_id or ""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies its version; a digest includes the order_id."""
        return self.version.source, self.version.digest


def apply(context: Context, connection: Connection, raw: Mapping[str, Any], source: Source) -> OrderState:
    """Stores one version, received now, and updates its order; returns the order now. DataError: the body is no order."""
    received_order = ReceivedOrder.parse(raw, source, connection.execute(sa.select(instant())).scalar_one())
    return apply_all(context, connection, [received_order], CustomerCipher(context.settings.orders))[
        received_order.order_id
    ]


def apply_all(
    context: Context, connection: Connection, received: Sequence[ReceivedOrder], cipher: CustomerCipher
) -> dict[str, OrderState]:
    """Stores all versions and updates their orders; returns the orders now, by order_id.

    The personal parts are encrypted or discarded before anything is written.
    """
    of_order: dict[str, list[ReceivedOrder]] = {}
    first: dict[tuple[str, str], ReceivedOrder] = {}
    for order in sorted(received, key=lambda order: order.version.received_at):
        first.setdefault(order.key, order)
    for order in received:
        of_order.setdefault(order.order_id, []).append(order)
    first_seen = orders.lock_all(connection, of_order)
    new = orders.add_versions(connection, [_row(order) for order in first.values()])
    for order_id in {order.order_id for order in received if order.version.source == "read_back"}:
        orders.mark_read_back(connection, order_id)
    before = _versions(connection, of_order, known=new)
    added: dict[str, list[Version]] = {}
    for key in new:
        added.setdefault(first[key].order_id, []).append(first[key].version)
    now = {order_id: state([*before.get(order_id, ()), *added.get(order_id, ())]) for order_id in of_order}
    moved = [now[order_id] for order_id in of_order if order_id in added]
    if moved:
        orders.move(connection, [{name: getattr(order, name) for name in _MOVED} for order in moved])
        warehouse.write(connection, moved)
    if cipher:
        _keep_customers(context, connection, of_order, before, first_seen, cipher)
    return now


def apply_each(
    context: Context, connection: Connection, received: Sequence[ReceivedOrder], cipher: CustomerCipher
) -> tuple[dict[str, OrderState], list[tuple[ReceivedOrder, str]]]:
    """As `apply_all`, but a version that raises stops no other: (orders now, versions that are not applied and why).

    A batch that fails is rolled back and applied in halves, down to the version that fails.
    """
    if not received:
        return {}, []
    try:
        with connection.begin_nested():
            return apply_all(context, connection, received, cipher), []
    except Exception as error:
        if is_database_trouble(error):
            raise
        if len(received) == 1:
            return {}, [(received[0], reason(error))]
    middle = len(received) // 2
    now, failed = apply_each(context, connection, received[:middle], cipher)
    later, failed_too = apply_each(context, connection, received[middle:], cipher)
    return now | later, failed + failed_too


def current(connection: Connection, order_id: str) -> OrderState | None:
    """The order by all its versions; None without a version."""
    versions = _versions(connection, [order_id]).get(order_id)
    return state(versions) if versions else None


def _versions(
    connection: Connection, order_ids: Collection[str], *, known: Collection[tuple[str, str]] = ()
) -> dict[str, list[Version]]:
    versions: dict[str, list[Version]] = {}
    for row in orders.versions(connection, order_ids, known=known):
        versions.setdefault(row.order_id, []).append(load_version(row.body, row.source, row.seen_at))
    return versions


def _row(order: ReceivedOrder) -> dict[str, Any]:
    version = order.version
    return {
        "order_id": order.order_id,
        "source": version.source,
        "digest": version.digest,
        "status": version.status,
        "updated_at": version.believed("updated_at"),
        "seen_at": version.received_at,
        "body": order.text,
        "event_id": order.event_id,
    }


def _keep_customers(
    context: Context,
    connection: Connection,
    of_order: Mapping[str, Sequence[ReceivedOrder]],
    before: Mapping[str, Sequence[Version]],
    first_seen: Mapping[str, dt.datetime],
    cipher: CustomerCipher,
) -> None:
    """Merges the personal parts. A newer value replaces an older one; a value that only an older version has stays."""
    personal = [order_id for order_id, group in of_order.items() if any(order.personal for order in group)]
    encrypted = warehouse.encrypted_customers(connection, personal) if personal else {}
    days = context.settings.orders.customer_days
    rows = []
    for order_id in personal:
        known = cipher.decrypt(encrypted.get(order_id))
        merged = _merged(known, before.get(order_id, ()), of_order[order_id])
        if merged != known:
            until = remove_at(first_seen[order_id], days)
            rows.append({"order_id": order_id, "encrypted": cipher.encrypt(merged), "remove_at": until})
    if rows:
        warehouse.keep_customers(connection, rows)


def _merged(known: dict[str, Any], before: Sequence[Version], received: Sequence[ReceivedOrder]) -> dict[str, Any]:
    """`known` has the age of the latest version in `before`. Of equal age, what is received now is later."""
    versions = [order.version for order in received]
    personal = {id(order.version): order.personal for order in received}
    if before:
        versions.insert(0, oldest_first(before)[-1])
        personal[id(versions[0])] = known
    merged: dict[str, Any] = {} if before else dict(known)
    for version in oldest_first(versions):
        merged |= personal[id(version)]
    return merged
