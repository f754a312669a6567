"""The operator's decision about the holds of promotions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.promotions.ledger import holds as promotion_holds

if TYPE_CHECKING:
    from shelfsync.context import Context


def decide_hold(context: Context, hold_id: int, *, approve: bool, by: str) -> bool:
    """Approves or declines one hold, also against an earlier decision; False: the held values have changed."""
    with context.engine.begin() as connection:
        return promotion_holds.decide_one(connection, hold_id, state=_state(approve), by=by)


def decide_campaign(context: Context, campaign: str, *, rule: str | None, approve: bool, by: str) -> int:
    """Approves or declines the holds of a campaign; where none waits, it reverses the earlier decisions. Returns how many."""
    with context.engine.begin() as connection:
        done = promotion_holds.decide(connection, campaign, rule=rule, state=_state(approve), by=by)
        return done or promotion_holds.decide(
            connection, campaign, rule=rule, state=_state(approve), by=by, before=_state(not approve)
        )


def decide_rule(context: Context, rule: str, *, approve: bool, by: str, newest: int | None = None) -> int:
    """Approves or declines all holds of one cause, up to the hold `newest`; returns how many."""
    with context.engine.begin() as connection:
        return promotion_holds.decide(connection, None, rule=rule, state=_state(approve), by=by, newest=newest)


def _state(approve: bool) -> str:
    return "approved" if approve else "declined"
