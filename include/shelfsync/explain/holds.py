"""The holds of a SKU, and the decisions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import decisions
from shelfsync.catalog.state import HELD, HoldState
from shelfsync.explain.event import Event, Values

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Row

    from shelfsync.context import Context

_IN_FORCE = """
SELECT hold_id, run_id, first_run_id, rule, message, rows_path, state, decided_by, why, held_at, decided_at, expires_at, superseded_by
FROM ledger.hold
WHERE vendor = :vendor AND held_at <= :at AND state IN ('open', 'declined', 'expired') AND superseded_by IS NULL
ORDER BY hold_id DESC LIMIT :most
"""
_CLOSED = """
SELECT hold_id, run_id, first_run_id, rule, message, rows_path, state, decided_by, why, held_at, decided_at, expires_at, superseded_by
FROM ledger.hold
WHERE vendor = :vendor AND held_at <= :at AND (state NOT IN ('open', 'declined', 'expired') OR superseded_by IS NOT NULL)
ORDER BY hold_id DESC LIMIT :most
"""
_FIELDS = ("price", "quantity", "active", "max_sales_quantity")
CLOSED_MAX = 20
"""How many closed holds of a vendor are read, newest first; each costs one small file."""
IN_FORCE_MAX = 100
"""How many holds in force are read. There are few: each has its own rule or category, and the next extract ends it."""


def held(
    context: Context, connection: Connection, vendor: str, sku: str, at: dt.datetime
) -> Iterator[tuple[Event, str | None]]:
    """Events of the SKU's holds: first those in force, each newest first. A hold in force comes with what its release waits for."""
    bound = {"vendor": vendor, "at": at}
    in_force = connection.execute(sa.text(_IN_FORCE), {**bound, "most": IN_FORCE_MAX}).all()
    closed = connection.execute(sa.text(_CLOSED), {**bound, "most": CLOSED_MAX}).all()
    for row in (*in_force, *closed):
        found = context.lake.find(row.rows_path, sku) if context.lake.exists(row.rows_path) else None
        if found is None:
            continue
        values = Values(**{name: found[name] for name in _FIELDS})
        message = f"the guard {row.rule} holds it (hold {row.hold_id}): {row.message}"
        yield Event(row.held_at, "guard", message, row.first_run_id, None, values), _waits(row)
        for decision in decisions.of_hold(connection, row.hold_id):
            if decision["decided_at"] <= at:
                decided = f"hold {row.hold_id} {_decided(decision['state'], decision['decided_by'], decision['why'])}"
                yield Event(decision["decided_at"], "guard", decided, row.run_id, None), None
        if row.state == HoldState.SUPERSEDED and row.decided_at is not None and row.decided_at <= at:
            yield Event(row.decided_at, "guard", f"hold {row.hold_id} was superseded", row.run_id, None), None


def _decided(state: str, user: str | None, reason: str | None) -> str:
    if state == HoldState.EXPIRED:
        return "expired without a decision"
    note = f" ({reason})" if reason else ""
    return f"was {state}" + (f" by {user}{note}" if user else "")


def _waits(row: Row[tuple[object, ...]]) -> str | None:
    """None: the hold is closed, because an operator approved it or a newer extract has other rows."""
    if row.superseded_by is not None or row.state not in HELD:
        return None
    if row.state == HoldState.OPEN:
        return (
            f"an operator approves hold {row.hold_id} (`shelfsync holds show {row.hold_id}`). The guard {row.rule} holds it:"
            f" {row.message}. Without a decision by {row.expires_at:%Y-%m-%d %H:%M:%S} the hold expires"
        )
    decided = _decided(row.state, row.decided_by, row.why)
    return (
        f"an operator approves hold {row.hold_id} after all (`shelfsync holds approve {row.hold_id}`). The guard {row.rule} holds it:"
        f" {row.message}. The hold {decided}, so the value stays held until the ERP has another one"
    )
