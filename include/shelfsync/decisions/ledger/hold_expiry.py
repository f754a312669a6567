"""An open hold expires without a decision in time: its rows stay held, and no question is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.decisions.hold import TIMEOUT
from shelfsync.decisions.ledger.holds import add_decision
from shelfsync.decisions.ledger.tables import hold
from shelfsync.decisions.state import HoldState, Place, Subject
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def expire(connection: Connection, *, subject: Subject | None = None, hold_id: int | None = None) -> list[int]:
    """Expires the holds of a subject, or one hold, without a decision in time. Their rows stay held."""
    chosen = hold.c.subject == subject if hold_id is None else hold.c.hold_id == hold_id
    late = sa.and_(chosen, hold.c.state == HoldState.OPEN, hold.c.expires_at <= instant())
    statement = hold.update().where(late)
    ended = {"state": HoldState.EXPIRED, "decided_by": TIMEOUT, "decided_at": instant(), "acts": hold.c.acts + 1}
    done = statement.values(ended)
    expired = list(connection.execute(done.returning(hold.c.hold_id)).scalars())
    for number in expired:
        add_decision(connection, number, HoldState.EXPIRED, who=TIMEOUT, place=Place.SHELFSYNC)
    return expired


def left_s(connection: Connection, hold_id: int) -> float:
    """Seconds until a hold expires, by the database's clock."""
    left = sa.func.extract("epoch", hold.c.expires_at - instant())
    return float(connection.execute(sa.select(left).where(hold.c.hold_id == hold_id)).scalar_one_or_none() or 0)
