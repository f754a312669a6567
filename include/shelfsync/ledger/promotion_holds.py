"""Slices of campaigns held for a person: noted by a hash of exactly what they say, so that a release is for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.promotion_tables import promotion_hold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

_ROW = promotion_hold.c


def released(connection: Connection) -> set[str]:
    """Fingerprints that a person has let pass."""
    return set(connection.execute(sa.select(_ROW.fingerprint).where(_ROW.state == "released")).scalars())


def note(connection: Connection, holds: Sequence[dict[str, Any]]) -> None:
    """Holds of the newest plan (campaign, rule, vendor, fingerprint, skus, message); those that it does not find any more are gone."""
    connection.execute(promotion_hold.update().where(_ROW.state == "held").values(state="gone"))
    for hold in holds:
        statement = insert(promotion_hold).values(hold)
        again = {"last_at": instant(), "message": statement.excluded.message}
        back = sa.case((_ROW.state == "gone", "held"), else_=_ROW.state)
        connection.execute(
            statement.on_conflict_do_update(index_elements=[_ROW.fingerprint], set_={**again, "state": back})
        )


def held(connection: Connection) -> list[dict[str, Any]]:
    """What waits for a person, oldest first."""
    names = ("hold_id", "campaign", "rule", "vendor", "skus", "message", "first_at")
    rows = connection.execute(
        sa.select(*(_ROW[name] for name in names)).where(_ROW.state == "held").order_by(_ROW.hold_id)
    )
    return [dict(row) for row in rows.mappings()]


def decided(connection: Connection, *, most: int = 20) -> list[dict[str, Any]]:
    """What was decided last, newest first."""
    names = ("hold_id", "campaign", "rule", "vendor", "skus", "message", "state", "decided_by", "decided_at")
    statement = sa.select(*(_ROW[name] for name in names)).where(_ROW.state.in_(("released", "refused")))
    rows = connection.execute(statement.order_by(_ROW.decided_at.desc(), _ROW.hold_id.desc()).limit(most))
    return [dict(row) for row in rows.mappings()]


def decide_one(connection: Connection, hold_id: int, *, state: str, by: str) -> bool:
    """Releases or refuses one hold, also when it was decided otherwise before; False when it is gone or there is none."""
    statement = promotion_hold.update().where(_ROW.hold_id == hold_id, _ROW.state != "gone")
    return connection.execute(statement.values(state=state, decided_by=by, decided_at=instant())).rowcount == 1


def decide(connection: Connection, campaign: str, *, rule: str | None, state: str, by: str) -> int:
    """Releases or refuses what is held of a campaign (of one rule alone, if said); how many holds that were."""
    statement = promotion_hold.update().where(_ROW.state == "held", _ROW.campaign == campaign)
    if rule is not None:
        statement = statement.where(_ROW.rule == rule)
    return connection.execute(statement.values(state=state, decided_by=by, decided_at=instant())).rowcount
