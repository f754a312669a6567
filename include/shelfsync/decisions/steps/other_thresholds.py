"""Other thresholds for once: what they let through of a hold is approved, and the rest is declined."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from shelfsync.decisions.ledger import holds
from shelfsync.decisions.ledger.holds import known
from shelfsync.decisions.state import HoldState, Place
from shelfsync.decisions.steps.decide import locked, result_of, write_decision
from shelfsync.decisions.steps.late_answer import Given, late_reason, one_line
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Found, Hold
    from shelfsync.decisions.subject import Divided


def reconsider(
    context: Context,
    hold_id: int,
    thresholds: dict[str, Any],
    *,
    who: str,
    place: Place,
    why: str | None = None,
    shown: str | None = None,
    asked_by: str | None = None,
) -> dict[str, Any]:
    """Applies the hold's rule once with other thresholds. Rows that it no longer holds are approved; the rest stays held.

    The rest becomes a separate hold, declined by the same person. `shown` and `asked_by` as for `decide`. A DataError describes wrong
    thresholds; then nothing is decided.
    """
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
    given = Given(HoldState.APPROVED, who, place, why, shown, asked_by)
    divided = _divided(context, hold, thresholds)
    if divided is None:
        return _not_checked(context, hold_id, given)
    some = divided.released.num_rows > 0
    path = context.lake.write_table("hold", hold.vendor, divided.released) if some else ""
    given = dataclasses.replace(given, state=HoldState.APPROVED if some else HoldState.DECLINED)
    with context.engine.begin() as connection:
        context.subjects[hold.subject].lock(connection, hold)  # first: the same order as renewing and releasing holds
        now = locked(connection, hold_id, given)
        late = late_reason(context, connection, now, given)
        as_seen = now.rows_path == hold.rows_path
        if late is None and as_seen:
            if some:
                rows = divided.released.num_rows
                holds.narrow(connection, hold_id, rows_path=path, identity=divided.identity, rows=rows)
                for one in divided.rest:
                    _add_declined(context, connection, now, one, given)
            write_decision(context, connection, now, given, thresholds=divided.used)
        now = known(connection, hold_id)
    if late is None and not as_seen:  # new products have sold since: check the newer quantities
        return reconsider(context, hold_id, thresholds, who=who, place=place, why=why, shown=shown, asked_by=asked_by)
    return result_of(now, late)


def _not_checked(context: Context, hold_id: int, given: Given) -> dict[str, Any]:
    """The result for a hold whose rule cannot be applied once more: it is decided, or the files of its run are gone."""
    with context.engine.begin() as connection:
        hold = locked(connection, hold_id, given)
        gone = f"{hold.named}: the delta of run {hold.run_id} is no longer kept; nothing was done"
        late = late_reason(context, connection, hold, given) or gone
    return result_of(hold, late)


def check_thresholds(context: Context, hold_ids: Iterable[int], thresholds: dict[str, Any]) -> None:
    """Raises the DataError of the first hold for which `reconsider` would reject these thresholds; so several are decided all or none."""
    for hold_id in hold_ids:
        with context.engine.connect() as connection:
            hold = known(connection, hold_id)
        _divided(context, hold, thresholds)


def need_thresholds(hold: Hold, thresholds: dict[str, Any] | None) -> None:
    """A DataError if a person's thresholds are none at all. None: the decision is about the whole hold."""
    if thresholds is not None and not thresholds:
        raise DataError(f"hold {hold.hold_id}: no threshold was given, so nothing was decided; give at least one")


def need_other_thresholds(hold: Hold, used: dict[str, Any]) -> None:
    """A DataError if the thresholds in full are those that hold it already."""
    if used == hold.thresholds:
        raise DataError(
            f"hold {hold.hold_id}: these thresholds are the present ones, so nothing was decided; give others"
        )


def _divided(context: Context, hold: Hold, thresholds: dict[str, Any]) -> Divided | None:
    """What these thresholds make of a hold. None: it can no longer be approved, or checked."""
    if not hold.may_be_approved:
        return None
    need_thresholds(hold, thresholds)
    return context.subjects[hold.subject].divide(context, hold, thresholds)


def _add_declined(context: Context, connection: Connection, hold: Hold, rest: Found, given: Given) -> None:
    """Adds the changes that a person's thresholds still hold as a declined hold."""
    hours = context.settings.guards.hold_hours
    number = holds.add(connection, hold.subject, rest, run_id=hold.run_id, generation=hold.generation, hours=hours)
    who, why = one_line(given.who) or "unknown", f"left by hold {hold.hold_id}"
    holds.decide(connection, number, HoldState.DECLINED, who=who, place=given.place, why=why)
