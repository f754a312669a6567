"""The holds and the restorations of a SKU, with the decisions about them.

In a restoration an operator ordered a past state instead of the ERP's values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import holds
from shelfsync.catalog.ledger.restorations import Restoration
from shelfsync.catalog.state import HELD, HoldState
from shelfsync.explain.explanation import Event, Values

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
RESTORATIONS_MAX = 20
"""How many restorations of a vendor are read, newest first."""

_OF_SKU = """
SELECT restoration_id, state_at, until_at, why, who, begun_at, ended_at, ended_by FROM ledger.restoration
WHERE vendor = :vendor AND begun_at <= :at AND (skus IS NULL OR :sku = ANY (skus)) ORDER BY restoration_id DESC LIMIT :most
"""

_RESTORATIONS_IN_FORCE = """
SELECT restoration_id, vendor, skus, path, state_at, until_at, why, who, begun_at FROM ledger.restoration
WHERE vendor = :vendor AND (skus IS NULL OR :sku = ANY (skus)) AND begun_at <= :at
    AND until_at > :since AND (ended_at IS NULL OR ended_at > :since)
ORDER BY restoration_id
"""


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
        for decision in holds.decisions_of(connection, row.hold_id):
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


def in_force(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> list[Restoration]:
    """The restorations of the SKU that were in force at an instant, oldest first: a newer one overrides an older one."""
    return in_force_since(connection, vendor, sku, at, at)


def in_force_since(
    connection: Connection, vendor: str, sku: str, since: dt.datetime, at: dt.datetime
) -> list[Restoration]:
    """Those that were in force at any time between two instants."""
    bound = {"vendor": vendor, "sku": sku, "since": since, "at": at}
    return [Restoration(**row) for row in connection.execute(sa.text(_RESTORATIONS_IN_FORCE), bound).mappings()]


def restored(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Iterator[Event]:
    """When each was ordered, and when it ended, by an operator or at its end time."""
    bound = {"vendor": vendor, "sku": sku, "at": at, "most": RESTORATIONS_MAX}
    for row in connection.execute(sa.text(_OF_SKU), bound).all():
        name = f"restoration {row.restoration_id}"
        span = f"as of {row.state_at:%Y-%m-%d %H:%M:%S}, until {row.until_at:%Y-%m-%d %H:%M:%S}"
        yield Event(row.begun_at, "restore", f"{row.who} ordered {name} ({span}): {row.why}")
        if row.ended_at is not None and row.ended_at <= at:
            yield Event(row.ended_at, "restore", f"{row.ended_by} ended {name}: the ERP's values apply again")
        elif row.ended_at is None and row.until_at <= at:
            yield Event(row.until_at, "restore", f"{name} ended at its end time: the ERP's values apply again")
