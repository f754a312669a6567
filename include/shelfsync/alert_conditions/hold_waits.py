"""Alerts `hold_waits` and `hold_expires`: held changes wait for a person, and when a further hold is news."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.alert_conditions import Growing
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.rule_name import rule_name
from shelfsync.decisions.state import EVERY, HoldState, Subject
from shelfsync.decisions.steps.lists import until
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold


def hold_waits(context: Context, connection: Connection) -> Found:
    """Undecided holds, one condition a subject and rule, and another one for those that expire soon or have expired: their rows stay held.

    A further hold is reported again, unless it only took the place of one that was open.
    """
    now = connection.execute(sa.select(instant())).scalar_one()
    soon = now + dt.timedelta(hours=context.settings.alerts.expires_hours)
    waiting: dict[str, list[Hold]] = defaultdict(list)
    ending: dict[str, list[Hold]] = defaultdict(list)
    for one in holds.in_force(connection):
        is_asked = one.subject != Subject.PROMOTIONS or context.settings.promotions.configured
        if one.state == HoldState.DECLINED or not is_asked:
            continue
        rule = f"{one.subject} {one.rule}"
        waiting[rule].append(one)
        if one.state == HoldState.EXPIRED or one.expires_at < soon:
            ending[rule].append(one)
    known = holds.in_place_of_open(connection) if waiting else set()
    found = {("hold_expires", rule): _holds_of(those, now) for rule, those in ending.items()}
    return found | {("hold_waits", rule): _holds_of(those, now, known) for rule, those in waiting.items()}


def _holds_of(those: Sequence[Hold], now: dt.datetime, known: Collection[int] = ()) -> Growing:
    """What waits of a rule, and what has expired. `known`: holds that are no news."""
    still_open = [one for one in those if one.state == HoldState.OPEN]
    expired = [one for one in those if one.state == HoldState.EXPIRED]
    parts = []
    if still_open:
        first = min(still_open, key=lambda one: one.expires_at)
        ends = until(first, (first.expires_at - now).total_seconds())
        waits = "waits" if _is_one(still_open) else "wait"
        parts.append(f"{_changes(still_open)} {waits} for a decision, {ends} (`shelfsync holds show {first.hold_id}`)")
    if expired:
        last = max(expired, key=lambda one: one.expires_at)
        have, stay = ("has", "stays") if _is_one(expired) else ("have", "stay")
        parts.append(
            f"{_changes(expired)} {have} expired without a decision, the last at {display.minute(last.expires_at)}, and {stay} held. A person may"
            f" decline, or reopen and approve, what has expired (`shelfsync holds show {last.hold_id}`)"
        )
    number = max((one.hold_id for one in those if one.hold_id not in known), default=0)
    of = "" if those[0].subject == Subject.CATALOG else f" of {those[0].subject}"
    return Growing(f"rule {rule_name(those[0].rule)}{of}: {'. Besides, '.join(parts)}", number)


def _changes(those: Sequence[Hold]) -> str:
    stores = {one.vendor for one in those}
    where = f"{len(stores):,} stores" if len(stores) > 1 else "all stores" if EVERY in stores else stores.pop()
    return f"{sum(one.rows for one in those):,} {'change' if _is_one(those) else 'changes'} of {where}"


def _is_one(those: Sequence[Hold]) -> bool:
    return sum(one.rows for one in those) == 1
