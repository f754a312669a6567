"""A picking result into the ledger, durably, whichever way it came: over HTTP, from the store's table, by a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.inbox.events import ORDER_CHANNEL
from shelfsync.ledger import picking
from shelfsync.orders.reading import as_json
from shelfsync.orders.result import digest, read

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from shelfsync.orders.result import PickingResult

_ON_DISK = sa.text(
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)
_TELL = sa.text("SELECT pg_notify(:channel, '')")


@dataclass(frozen=True)
class Prepared:
    """A result that has a form, ready to be stored."""

    result: PickingResult
    body: dict[str, Any]
    digest: str

    @property
    def name(self) -> tuple[str, str]:
        """By which a repeat is known: (order_id, result_id)."""
        return self.result.order_id, self.result.result_id


def prepared(order_id: str, raw: dict[str, Any]) -> Prepared:
    """UnreadableResultError: it has no form."""
    result = read(order_id, raw)
    body = {name: value for name, value in raw.items() if value is not None} | {"result_id": result.result_id}
    return Prepared(result, body, digest(body))


def keep(engine: Engine, order_id: str, raw: dict[str, Any], source: str, vendor: str | None = None) -> str:
    """Stores one result, durably: new, known or other (the name was used for another content). `vendor`: the store whose secret it came with.

    UnreadableResultError: it has no form, and nothing is stored.
    """
    return store(engine, prepared(order_id, raw), source, vendor)


def store(engine: Engine, one: Prepared, source: str, vendor: str | None = None) -> str:
    """The same of a result that was read already."""
    with engine.begin() as connection:
        connection.execute(_ON_DISK)
        word = picking.put(
            connection,
            order_id=one.result.order_id,
            result_id=one.result.result_id,
            source=source,
            vendor=vendor,
            digest=one.digest,
            body=as_json(one.body),
            action=one.result.action,
        )
        connection.execute(_TELL, {"channel": ORDER_CHANNEL})
    return word
