"""Stores picking results in the ledger, durably: from HTTP, from a command, or from the store's database. A result is stored once, by its result_id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.inbox.events import ORDER_CHANNEL
from shelfsync.orders.ledger import picking
from shelfsync.orders.order_state import as_json
from shelfsync.orders.picking_result import digest, read

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from shelfsync.orders.picking_result import PickingResult

_ON_DISK = sa.text(
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)
_NOTIFY = sa.text("SELECT pg_notify(:channel, '')")


@dataclass(frozen=True)
class Prepared:
    """A valid result, ready to be stored."""

    result: PickingResult
    body: dict[str, Any]
    digest: str

    @property
    def name(self) -> tuple[str, str]:
        """The key of a result: (order_id, result_id)."""
        return self.result.order_id, self.result.result_id


def prepared(order_id: str, raw: dict[str, Any]) -> Prepared:
    """Reads a result. UnreadableResultError: it is invalid."""
    result = read(order_id, raw)
    body = {name: value for name, value in raw.items() if value is not None} | {"result_id": result.result_id}
    return Prepared(result, body, digest(body))


def keep(engine: Engine, order_id: str, raw: dict[str, Any], source: str, vendor: str | None = None) -> str:
    """Stores one result durably; returns new, known or conflict (the result_id belongs to another content).

    `vendor`: the store whose secret was sent with it. UnreadableResultError: it is invalid, and nothing is stored.
    """
    return store(engine, prepared(order_id, raw), source, vendor)


def store(engine: Engine, ready: Prepared, source: str, vendor: str | None = None) -> str:
    """As `keep`, for a result that is already read."""
    with engine.begin() as connection:
        connection.execute(_ON_DISK)
        status = picking.put(
            connection,
            *ready.name,
            source=source,
            vendor=vendor,
            digest=ready.digest,
            body=as_json(ready.body),
            action=ready.result.action,
        )
        connection.execute(_NOTIFY, {"channel": ORDER_CHANNEL})
    return status
