"""The slices that hold a SKU back, and what was decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Event, Values

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Row

    from shelfsync.flow.house import Parts

_NEWEST = """
SELECT hold_id, run_id, first_run_id, rule, message, rows_path, state, decided_by, held_at, decided_at, expires_at
FROM ledger.hold WHERE vendor = :vendor AND held_at <= :at ORDER BY hold_id DESC LIMIT :most
"""
_FIELDS = ("price", "quantity", "active", "max_sales_quantity")
HOLDS_MAX = 20
"""So many slices of a vendor are looked into, newest first; each costs one small file."""


def held(
    parts: Parts, connection: Connection, vendor: str, sku: str, at: dt.datetime
) -> Iterator[tuple[Event, str | None]]:
    """Events of the SKU's holds, newest first; with each that is still open, what its release waits for."""
    bound = {"vendor": vendor, "at": at, "most": HOLDS_MAX}
    for row in connection.execute(sa.text(_NEWEST), bound).all():
        found = parts.lake.find(row.rows_path, sku) if parts.lake.exists(row.rows_path) else None
        if found is None:
            continue
        values = Values(**{name: found[name] for name in _FIELDS})
        said = f"held back by the guard {row.rule} (hold {row.hold_id}): {row.message}"
        yield Event(row.held_at, "guard", said, row.first_run_id, None, values), _waits(row)
        if row.decided_at is not None and row.decided_at <= at:
            decided = f"hold {row.hold_id} was {row.state}" + (f" by {row.decided_by}" if row.decided_by else "")
            yield Event(row.decided_at, "guard", decided, row.run_id, None), None


def _waits(row: Row[tuple[object, ...]]) -> str | None:
    if row.state != "open":
        return None
    return (
        f"a person approves hold {row.hold_id} (`shelfsync holds show {row.hold_id}`), which {row.rule} asks for:"
        f" {row.message}; nobody's word by {row.expires_at:%Y-%m-%d %H:%M:%S} means no"
    )
