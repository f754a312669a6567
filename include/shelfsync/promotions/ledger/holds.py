"""Holds of campaigns for the operator: identified by a hash of exactly the held values, so that an approval is for nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.promotions.ledger.tables import promotion_hold
from shelfsync.store.bulk import among, insertion
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

_ROW = promotion_hold.c
DECIDED = ("approved", "declined")


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
    names = (
        "hold_id",
        "campaign",
        "rule",
        "vendor",
        "skus",
        "message",
        "state",
        "decided_by",
        "why",
        "decided_at",
        "history",
    )
    statement = sa.select(*(_ROW[name] for name in names)).where(_ROW.state.in_(DECIDED))
    rows = connection.execute(statement.order_by(_ROW.decided_at.desc(), _ROW.hold_id.desc()).limit(most))
    return [dict(row) for row in rows.mappings()]


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


@dataclass(frozen=True)
class Chosen:
    """Which holds an answer is about: one, those of a campaign, of a rule, or of both. `newest`: the last hold that the operator saw."""

    campaign: str | None = None
    rule: str | None = None
    newest: int | None = None
    hold_id: int | None = None

    @property
    def where(self) -> sa.ColumnElement[bool]:
        """The condition of the statements."""
        given = ((_ROW.campaign, self.campaign), (_ROW.rule, self.rule), (_ROW.hold_id, self.hold_id))
        known = [column == value for column, value in given if value is not None]
        return sa.and_(*known, sa.true() if self.newest is None else _ROW.hold_id <= self.newest)

    @property
    def label(self) -> str:
        """For people."""
        if self.hold_id is not None:
            return f"hold {self.hold_id}"
        named = (("campaign", self.campaign), ("rule", self.rule))
        return ", ".join(f"{name} {value}" for name, value in named if value is not None)


def waiting(connection: Connection, chosen: Chosen, *, lock: bool = False) -> list[dict[str, Any]]:
    """The chosen holds that wait for a decision, oldest first."""
    names = ("hold_id", "campaign", "rule", "vendor", "fingerprint", "skus", "message", "history")
    statement = sa.select(*(_ROW[name] for name in names)).where(chosen.where, _ROW.state == "held")
    statement = statement.order_by(_ROW.hold_id)
    return [dict(row) for row in connection.execute(statement.with_for_update() if lock else statement).mappings()]


def decide(connection: Connection, hold_ids: Collection[int], *, state: str, by: str, why: str | None) -> int:
    """Approves or declines those of these holds that wait for a decision; returns how many."""
    statement = promotion_hold.update().where(among(_ROW.hold_id, list(hold_ids)), _ROW.state == "held")
    decided = {"state": state, "decided_by": by, "why": why, "decided_at": instant()}
    return connection.execute(statement.values(**decided, history=_with(state, by, why))).rowcount


def reopen(connection: Connection, chosen: Chosen, *, by: str, why: str) -> int:
    """Opens the chosen decided holds again; returns how many. The history keeps the decision."""
    statement = promotion_hold.update().where(chosen.where, _ROW.state.in_(DECIDED))
    nobody = {"state": "held", "decided_by": None, "why": None, "decided_at": None}
    return connection.execute(statement.values(**nobody, history=_with("held", by, why))).rowcount


def answered_late(
    connection: Connection, chosen: Chosen, *, state: str, by: str, why: str | None
) -> list[dict[str, Any]]:
    """Records an answer that came after the decision, and returns the decided holds, the last decision first."""
    statement = promotion_hold.update().where(chosen.where, _ROW.state.in_(DECIDED))
    ignored = sa.func.concat(_ROW.state, " by ", _ROW.decided_by, " before; nothing was done")
    names = ("hold_id", "campaign", "state", "decided_by", "decided_at")
    done = statement.values(history=_with(state, by, why, ignored)).returning(*(_ROW[name] for name in names))
    found = [dict(row) for row in connection.execute(done).mappings()]
    return sorted(found, key=lambda row: (row["decided_at"], row["hold_id"]), reverse=True)


def _with(state: str, by: str, why: str | None, ignored: sa.ColumnElement[str] | None = None) -> sa.ColumnElement[Any]:
    """The history and one more act."""
    act = ("state", state, "by", by, "why", why, "at", instant(), "ignored", ignored)
    values = (value if isinstance(value, sa.ColumnElement) else sa.cast(value, sa.Text) for value in act)
    return _ROW.history.concat(sa.cast(sa.func.jsonb_build_array(sa.func.jsonb_build_object(*values)), JSONB))


def _fingerprints(connection: Connection, state: str) -> set[str]:
    return set(connection.execute(sa.select(_ROW.fingerprint).where(_ROW.state == state)).scalars())
