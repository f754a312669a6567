"""The slices that hold a SKU back, and what was decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Event, Values
from shelfsync.ledger import decisions
from shelfsync.ledger.holds import EXPIRED, OPEN, STANDING, SUPERSEDED

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Row

    from shelfsync.flow.house import Parts

_STANDING = """
SELECT hold_id, run_id, first_run_id, rule, message, rows_path, state, decided_by, why, held_at, decided_at, expires_at, superseded_by
FROM ledger.hold
WHERE vendor = :vendor AND held_at <= :at AND state IN ('open', 'rejected', 'expired') AND superseded_by IS NULL
ORDER BY hold_id DESC LIMIT :most
"""
_OVER = """
SELECT hold_id, run_id, first_run_id, rule, message, rows_path, state, decided_by, why, held_at, decided_at, expires_at, superseded_by
FROM ledger.hold
WHERE vendor = :vendor AND held_at <= :at AND (state NOT IN ('open', 'rejected', 'expired') OR superseded_by IS NOT NULL)
ORDER BY hold_id DESC LIMIT :most
"""
_FIELDS = ("price", "quantity", "active", "max_sales_quantity")
OVER_MAX = 20
"""So many slices of a vendor that hold nothing any more are looked into, newest first; each costs one small file."""
STANDING_MAX = 100
"""The same of those that hold something now: few, for each is another rule or category, and the next extract ends it."""


def held(
    parts: Parts, connection: Connection, vendor: str, sku: str, at: dt.datetime
) -> Iterator[tuple[Event, str | None]]:
    """Events of the SKU's holds, those that stand first and each newest first; with each that stands, what its release waits for."""
    bound = {"vendor": vendor, "at": at}
    standing = connection.execute(sa.text(_STANDING), {**bound, "most": STANDING_MAX}).all()
    over = connection.execute(sa.text(_OVER), {**bound, "most": OVER_MAX}).all()
    for row in (*standing, *over):
        found = parts.lake.find(row.rows_path, sku) if parts.lake.exists(row.rows_path) else None
        if found is None:
            continue
        values = Values(**{name: found[name] for name in _FIELDS})
        said = f"held back by the guard {row.rule} (hold {row.hold_id}): {row.message}"
        yield Event(row.held_at, "guard", said, row.first_run_id, None, values), _waits(row)
        for one in decisions.of_hold(connection, row.hold_id):
            if one["decided_at"] <= at:
                decided = f"hold {row.hold_id} {_decided(one['state'], one['decided_by'], one['why'])}"
                yield Event(one["decided_at"], "guard", decided, row.run_id, None), None
        if row.state == SUPERSEDED and row.decided_at is not None and row.decided_at <= at:
            yield Event(row.decided_at, "guard", f"hold {row.hold_id} was superseded", row.run_id, None), None


def _decided(state: str, who: str | None, why: str | None) -> str:
    if state == EXPIRED:
        return "has expired: nobody decided in time"
    reason = f" ({why})" if why else ""
    return f"was {state}" + (f" by {who}{reason}" if who else "")


def _waits(row: Row[tuple[object, ...]]) -> str | None:
    """None: it holds nothing any more, because somebody approved it or a newer extract has other rows."""
    if row.superseded_by is not None or row.state not in STANDING:
        return None
    if row.state == OPEN:
        return (
            f"a person approves hold {row.hold_id} (`shelfsync holds show {row.hold_id}`), which {row.rule} asks for:"
            f" {row.message}; nobody's word by {row.expires_at:%Y-%m-%d %H:%M:%S} means no"
        )
    decided = "nobody decided in time" if row.state == EXPIRED else f"it {_decided(row.state, row.decided_by, row.why)}"
    return (
        f"a person approves hold {row.hold_id} after all (`shelfsync holds approve {row.hold_id}`), which {row.rule} asked for:"
        f" {row.message}; {decided}, so it stays held until the ERP says something else"
    )
