"""Decisions: every one that was made about a hold, by a person or by time. A later decision removes no earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger.hold_tables import decision
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.state import HoldState


def add(
    connection: Connection,
    hold_id: int,
    state: HoldState,
    *,
    who: str,
    why: str | None = None,
    thresholds: dict[str, Any] | None = None,
) -> None:
    """One more decision about a hold."""
    values = {"hold_id": hold_id, "state": state, "decided_by": who, "why": why, "decided_at": instant()}
    given = {} if thresholds is None else {"thresholds": thresholds}
    connection.execute(decision.insert().values(**values, **given))


def of_hold(connection: Connection, hold_id: int) -> list[dict[str, Any]]:
    """All decisions about a hold, oldest first: `state`, `decided_by`, `why`, `thresholds`, `decided_at`."""
    names = ("state", "decided_by", "why", "thresholds", "decided_at")
    statement = sa.select(*(decision.c[name] for name in names)).where(decision.c.hold_id == hold_id)
    return [dict(row) for row in connection.execute(statement.order_by(decision.c.decision_id)).mappings()]
