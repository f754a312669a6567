"""decide: the operator's decision about held campaigns. The first decision stands; only `reopen` undoes it."""

from __future__ import annotations

import hashlib
import shlex
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.errors import DataError
from shelfsync.promotions.ledger import holds as promotion_holds

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.promotions.ledger.holds import Chosen

SHOWN = 20
"""How many holds a question names."""


def asked(context: Context, chosen: Chosen) -> dict[str, Any]:
    """What an approval of the chosen holds would send: `{"holds", "campaigns", "skus", "lines", "mark"}`.

    `mark`: what the answer names, so that it decides exactly these holds. The value is not known from what is held: the discounts are
    in the lines, the customers decide how much they buy.
    """
    with context.engine.connect() as connection:
        found = promotion_holds.waiting(connection, chosen)
    campaigns = sorted({row["campaign"] for row in found})
    skus = sum(row["skus"] for row in found)
    lines = [
        f"{len(found)} holds of {len(campaigns)} campaigns, {skus:,} SKUs; what they are worth is not known from the hold"
    ]
    lines += [
        f"{row['campaign']}, vendor {row['vendor'] or '*'}, {row['rule']}: {row['message']}" for row in found[:SHOWN]
    ]
    lines += [f"and {len(found) - SHOWN:,} more holds"] if len(found) > SHOWN else []
    return {"holds": len(found), "campaigns": campaigns, "skus": skus, "lines": lines, "mark": _mark(found)}


def decide(
    context: Context, chosen: Chosen, *, approve: bool, by: str, why: str | None = None, shown: str | None = None
) -> int:
    """Approves or declines the chosen holds that wait for a decision; returns how many. The first decision stands.

    `shown`: the mark of the holds that the person saw. A DataError: nothing was decided, because the holds are decided already or others.
    """
    state = "approved" if approve else "declined"
    late: list[dict[str, Any]] = []
    with context.engine.begin() as connection:
        found = promotion_holds.waiting(connection, chosen, lock=True)
        changed = bool(found) and shown not in {None, _mark(found)}
        if not changed:
            hold_ids = [row["hold_id"] for row in found]
            done = promotion_holds.decide(connection, hold_ids, state=state, by=by, why=why)
        if not found and (chosen.campaign is not None or chosen.hold_id is not None):
            late = promotion_holds.answered_late(connection, chosen, state=state, by=by, why=why)
    if changed:
        raise DataError(
            f"{chosen.label}: the holds have changed since they were shown; nothing was done. Look again, then decide"
        )
    if late:
        raise DataError(_late_line(chosen, late[0]))
    if not found:
        raise DataError(
            f"nothing of {chosen.label} is held; nothing was done. `shelfsync promotions status` lists what is held"
        )
    return done


def reopen(context: Context, chosen: Chosen, *, by: str, why: str | None) -> int:
    """Opens decided holds again, so that a person may decide anew; returns how many. A DataError: no reason, or none is decided."""
    if not (why or "").strip():
        raise DataError(f"{chosen.label}: reopening needs a reason (--reason TEXT); nothing was done")
    with context.engine.begin() as connection:
        done = promotion_holds.reopen(connection, chosen, by=by, why=" ".join((why or "").split())[:500])
    if not done:
        raise DataError(
            f"nothing of {chosen.label} is decided; nothing was done. `shelfsync promotions status` lists what is"
        )
    return done


def _late_line(chosen: Chosen, row: dict[str, Any]) -> str:
    sent = ". The runs since then have sent it" if row["state"] == "approved" else ""
    campaign = shlex.quote(row["campaign"])
    return (
        f"{chosen.label}: {row['state']} by {row['decided_by']} at {display.instant(row['decided_at'])}; nothing was done{sent}."
        f" `shelfsync promotions reopen {campaign} --reason TEXT` opens it again"
    )


def _mark(found: list[dict[str, Any]]) -> str:
    seen = " ".join(f"{row['fingerprint']} {len(row['history'])}" for row in found)
    return hashlib.sha256(seen.encode()).hexdigest()[:16]
