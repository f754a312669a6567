"""What holds of the catalog keep back, for the report of a run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync.decisions.ledger import hold_expiry, holds
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps import lists
from shelfsync.errors import some_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.engine import Connection

    from shelfsync.decisions.hold import Hold


def by_vendor(found: list[Hold]) -> dict[str, str]:
    """What these holds keep back, and the command that lists it: one sentence for each vendor."""
    vendors = sorted({hold.vendor for hold in found})
    return {vendor: _sentence([hold for hold in found if hold.vendor == vendor]) for vendor in vendors}


def _sentence(found: list[Hold]) -> str:
    waiting = sum(hold.state == HoldState.OPEN for hold in found)
    decided = len(found) - waiting
    parts = [f"{waiting} holds to decide: `shelfsync holds list`"] if waiting else []
    parts += [f"{decided} declined or expired: `shelfsync holds list --state held`"] if decided else []
    return f"{sum(hold.rows for hold in found):,} changes are held by a guard ({'; '.join(parts)})"


def waits(connection: Connection, vendors: Collection[str] = (), *, run_id: int) -> dict[str, Any] | None:
    """`{"holds", "newest", "expired", "line", "brief"}` of what waits for a person at these vendors or at all; None: nothing.

    `line` has number, stores, rules, expiry and the next command; `brief` only what the report of the run has not.

    `run_id`: what is new.
    """
    left = lists.waiting(connection, Subject.CATALOG, vendors)
    if left is None:
        return None
    found, first, expired = left.holds, left.first, left.expired
    stores = sorted({hold.vendor for hold in found})
    new = sum(hold.first_run_id == run_id for hold in found)
    line = (
        f"{sum(hold.rows for hold in found):,} changes are held and wait for a person: {len(found):,} holds of {len(stores):,} stores"
        f" ({some_of(stores)}), rules {', '.join(left.rules)}; {new:,} new in this run, {len(found) - new:,} from earlier runs"
    )
    if first is not None:
        line += f". {lists.expiry(connection, first)}"
    if expired:
        line += f". {expired:,} expired without a decision: reopen or decline them"
    brief = f"{len(found):,} holds wait for a person"
    if first is not None:
        brief += f", {lists.until(first, hold_expiry.left_s(connection, first.hold_id))}"
    return {
        "holds": len(found),
        "newest": found[0].hold_id,
        "expired": expired,
        "line": f"{line}. {left.following}",
        "brief": f"{brief}. {left.following}",
    }


def would_wait(connection: Connection, plan: dict[str, Any]) -> dict[str, Any] | None:
    """The same about what a plan would hold. What was declined is held too, and waits for no person."""
    declined = Counter[tuple[str, str]]()
    for hold in holds.in_force(connection, Subject.CATALOG):
        if hold.state == HoldState.DECLINED:
            declined[hold.vendor, hold.rule] += hold.rows
    would = Counter[tuple[str, str]]()
    for vendor in plan["vendors"]:
        for one in vendor["held"]:
            would[vendor["vendor"], one["rule"]] += one["rows"]
    left = would - declined
    if not left:
        return None
    stores, rules = {vendor for vendor, _ in left}, {rule for _, rule in left}
    line = lists.would_wait(f"{left.total():,} changes of {len(stores):,} stores", stores, rules)
    return {"line": line, "brief": f"{left.total():,} changes would be held"}
