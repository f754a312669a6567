"""Holds of campaigns for the operator: identified by a hash of exactly the held values, so that an approval is for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.promotions.ledger.tables import promotion_hold
from shelfsync.store.bulk import among, insertion
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

_ROW = promotion_hold.c


def approved(connection: Connection) -> set[str]:
    """Fingerprints that an operator has approved."""
    return _fingerprints(connection, "approved")


def declined(connection: Connection) -> set[str]:
    """Fingerprints that an operator has declined."""
    return _fingerprints(connection, "declined")


def note(connection: Connection, holds: Sequence[dict[str, Any]], *, approved: Collection[str]) -> None:
    """Holds of the newest plan (campaign, rule, vendor, fingerprint, skus, message); holds that the plan no longer finds become `gone`.

    `approved`: fingerprints that the plan found and an operator has approved. As long as a plan finds them, housekeeping keeps the decision.
    """
    found = promotion_hold.update().where(among(_ROW.fingerprint, list(approved)))
    connection.execute(found.values(last_at=instant()))
    connection.execute(promotion_hold.update().where(_ROW.state == "held").values(state="gone"))
    if not holds:
        return
    statement = insertion(promotion_hold, list({hold["fingerprint"]: hold for hold in holds}.values()))
    again = {"last_at": instant(), "message": statement.excluded.message}
    back = sa.case((_ROW.state == "gone", "held"), else_=_ROW.state)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[_ROW.fingerprint], set_={**again, "state": back})
    )


def held(connection: Connection, *, most: int) -> list[dict[str, Any]]:
    """Holds that wait for a decision: so many of them, the oldest first."""
    names = ("hold_id", "campaign", "rule", "vendor", "skus", "message", "first_at")
    statement = sa.select(*(_ROW[name] for name in names)).where(_ROW.state == "held")
    rows = connection.execute(statement.order_by(_ROW.hold_id).limit(most))
    return [dict(row) for row in rows.mappings()]


def decided(connection: Connection, *, most: int = 20) -> list[dict[str, Any]]:
    """The last decisions, newest first."""
    names = ("hold_id", "campaign", "rule", "vendor", "skus", "message", "state", "decided_by", "decided_at")
    statement = sa.select(*(_ROW[name] for name in names)).where(_ROW.state.in_(("approved", "declined")))
    rows = connection.execute(statement.order_by(_ROW.decided_at.desc(), _ROW.hold_id.desc()).limit(most))
    return [dict(row) for row in rows.mappings()]


def decide_one(connection: Connection, hold_id: int, *, state: str, by: str) -> bool:
    """Approves or declines one hold, also against an earlier decision; False if it is gone or does not exist."""
    statement = promotion_hold.update().where(_ROW.hold_id == hold_id, _ROW.state != "gone")
    return connection.execute(statement.values(state=state, decided_by=by, decided_at=instant())).rowcount == 1


def held_by_rule(connection: Connection) -> list[dict[str, Any]]:
    """Holds that wait for a decision, by their cause: how many campaigns, vendors and SKUs, some campaigns, and the newest hold."""
    statement = sa.select(
        _ROW.rule,
        sa.func.count().label("holds"),
        sa.func.count(sa.distinct(_ROW.campaign)).label("campaigns"),
        sa.func.count(sa.distinct(_ROW.vendor)).label("vendors"),
        sa.cast(sa.func.sum(_ROW.skus), sa.BigInteger).label("skus"),
        sa.func.max(_ROW.hold_id).label("newest"),
    )
    rows = connection.execute(statement.where(_ROW.state == "held").group_by(_ROW.rule).order_by(_ROW.rule))
    return [dict(row) for row in rows.mappings()]


def decide(
    connection: Connection,
    campaign: str | None,
    *,
    rule: str | None,
    state: str,
    by: str,
    newest: int | None = None,
    before: str = "held",
) -> int:
    """Approves or declines the holds of a campaign (None: of all), of one rule alone, if given; returns the number of holds.

    `before`: the state that they have now; another than `held` reverses earlier decisions. `newest`: the last hold that the operator saw;
    holds after it are not decided.
    """
    statement = promotion_hold.update().where(_ROW.state == before)
    if campaign is not None:
        statement = statement.where(_ROW.campaign == campaign)
    if newest is not None:
        statement = statement.where(_ROW.hold_id <= newest)
    if rule is not None:
        statement = statement.where(_ROW.rule == rule)
    return connection.execute(statement.values(state=state, decided_by=by, decided_at=instant())).rowcount


def _fingerprints(connection: Connection, state: str) -> set[str]:
    return set(connection.execute(sa.select(_ROW.fingerprint).where(_ROW.state == state)).scalars())
