"""A picking result into the ledger, durably, whichever way it came: over HTTP, from the store's table, by a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.inbox.events import ORDER_CHANNEL
from shelfsync.ledger import picking
from shelfsync.orders.reading import as_json
from shelfsync.orders.result import digest, read

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

_ON_DISK = sa.text(
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)
_TELL = sa.text("SELECT pg_notify(:channel, '')")


def keep(engine: Engine, order_id: str, raw: dict[str, Any], source: str) -> str:
    """Stores one result, durably: new, known or other (the name was used for another content).

    UnreadableResultError: it has no form, and nothing is stored.
    """
    result = read(order_id, raw)
    body = {name: value for name, value in raw.items() if value is not None} | {"result_id": result.result_id}
    with engine.begin() as connection:
        connection.execute(_ON_DISK)
        word = picking.put(
            connection,
            order_id=result.order_id,
            result_id=result.result_id,
            source=source,
            digest=digest(body),
            body=as_json(body),
            action=result.action,
        )
        connection.execute(_TELL, {"channel": ORDER_CHANNEL})
    return word
