"""The promotions' part of a hold: what an approval will do, what other thresholds release, and when it is sent."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync.decisions import held_row_order as moves
from shelfsync.decisions.hold import REOPENED, Found, not_sent
from shelfsync.decisions.ledger import approvals, hold_expiry, holds
from shelfsync.decisions.ledger.holds import known
from shelfsync.decisions.rule_name import rule_name
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps.lists import expiry, waiting
from shelfsync.decisions.steps.other_thresholds import need_other_thresholds
from shelfsync.decisions.subject import Divided
from shelfsync.errors import DataError, some_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold
    from shelfsync.promotions.guard import Hold as Guarded
    from shelfsync.promotions.ledger.runs import PromotionRun

log = logging.getLogger(__name__)

READ_MAX = 200
"""So many holds are read for the largest moves; of more, a question names the first."""
NAMED = 20
SENT = "`shelfsync promotions sync` sends it at once; otherwise the next run does, within minutes"


def written(context: Context, guarded: Iterable[Guarded]) -> list[Found]:
    """What the guards hold, its rows in the lake. A file that a hold in force points to is not written again.

    What is left of a decided hold has its decision, without a new question.
    """
    with context.engine.connect() as connection:
        in_force = holds.in_force(connection, Subject.PROMOTIONS)
    kept = {hold.identity: hold.rows_path for hold in in_force}
    return [
        Found(
            vendor=one.vendor,
            rule=one.rule,
            category=None,
            campaign=one.campaign,
            message=one.message,
            thresholds=one.thresholds,
            rows_path=kept.get(one.fingerprint) or context.lake.write_table("hold", "all", one.rows),
            before_path=None,
            identity=one.fingerprint,
            rows=one.rows.num_rows,
            carried=None if (earlier := decided_with(context, one, in_force)) is None else earlier.hold_id,
        )
        for one in guarded
    ]


def keys_of(context: Context, hold: Hold) -> set[str]:
    """What a decision about the hold is for, row by row; nothing if its file is lost."""
    return keys_if_kept(context, hold) or set()


def keys_if_kept(context: Context, hold: Hold) -> set[str] | None:
    """The same; None if its file is lost."""
    rows = context.lake.read_or_none(hold.rows_path, ["key"])
    if rows is None:
        log.warning("promotions: %s: the lake has lost its rows (%s)", hold.named, hold.rows_path)
        return None
    return set(rows["key"].to_pylist())


def decided_with(context: Context, one: Guarded, in_force: Iterable[Hold]) -> Hold | None:
    """The declined or expired hold that has all of these rows; None: there is none."""
    keys = set(one.rows["key"].to_pylist())
    for hold in in_force:
        same = (hold.vendor, hold.rule, hold.campaign) == (one.vendor, one.rule, one.campaign)
        if same and hold.state in REOPENED and (hold.identity == one.fingerprint or keys <= keys_of(context, hold)):
            return hold
    return None


def renew(
    connection: Connection,
    run: PromotionRun,
    found: Iterable[Found],
    *,
    applied: Iterable[int],
    spent: Iterable[int],
    unread: Iterable[str],
    hours: float,
) -> None:
    """Writes what a plan holds, and which approvals it applied or found to be spent. It ends no hold of a store whose source could not be read.

    An extract without a proof of completeness ends no decision either.
    """
    assert run.generation is not None, "a plan has an extract"
    hold_expiry.expire(connection, subject=Subject.PROMOTIONS)
    approvals.applied(connection, list(applied), run_id=run.run_id, generation=run.generation)
    approvals.spend(connection, spent)
    approved = {hold.identity for hold in approvals.approved(connection, Subject.PROMOTIONS)}
    decided = [] if run.complete else holds.in_force(connection, Subject.PROMOTIONS)
    holds.renew(
        connection,
        Subject.PROMOTIONS,
        [one for one in found if one.identity not in approved],  # approved while the plan was computed
        without=list(unread),
        run_id=run.run_id,
        generation=run.generation,
        hours=hours,
        kept=[hold.hold_id for hold in decided if hold.state != HoldState.OPEN],
    )


def rows(context: Context, hold: Hold) -> Any:
    """The held rows: the base price and what a piece costs in the promotion."""
    return context.lake.read_table(hold.rows_path)


def stake_of(context: Context, found: Sequence[Hold], thresholds: dict[str, Any] | None) -> dict[str, Any]:
    """What an approval of these holds will do: `{"stake", "moves", "lines"}`. `thresholds`: only of what these release.

    Its value is not known: customers decide how much they buy. The discounts are in the lines.
    """
    moved: list[dict[str, Any]] = []
    count = 0
    for number, hold in enumerate(found):
        if thresholds is None and number >= READ_MAX:
            count += hold.rows
            continue
        divided = None if thresholds is None else divide(context, hold, thresholds)
        table = rows(context, hold) if divided is None else divided.released
        count += table.num_rows
        moved += [{**row, "vendor": hold.vendor} for row in moves.ordered(table, rows=moves.MOVES)]
    moved = moves.largest(row for row in moved if row["price_before"] is not None)
    campaigns = sorted({hold.campaign for hold in found if hold.campaign is not None})
    ends = all(hold.rule == "ended" for hold in found)
    what = (
        f"{count:,} promotions end"
        if ends
        else f"{count:,} SKUs of {len(campaigns):,} campaigns ({some_of(campaigns)})"
    )
    lines = [what, *moves.lines(moved)]
    lines += [f"{hold.vendor}, {rule_name(hold.rule)}: {hold.message}" for hold in found[:NAMED]]
    lines += [f"and {len(found) - NAMED:,} more holds"] if len(found) > NAMED else []
    return {"stake": {"rows": count}, "moves": moved, "lines": lines}


def divide(context: Context, hold: Hold, thresholds: dict[str, Any]) -> Divided | None:
    """What another threshold makes of a hold: rows at or below it are released."""
    import pyarrow.compute as pc

    from shelfsync.promotions.guard import ROUNDING, fingerprint

    known_names = ", ".join(hold.thresholds) or "none"
    if set(thresholds) - set(hold.thresholds):
        raise DataError(
            f"hold {hold.hold_id}: these thresholds are invalid: the rule {hold.rule} has {known_names}; nothing was decided"
        )
    used = {**hold.thresholds, **thresholds}
    for name, value in used.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise DataError(
                f"hold {hold.hold_id}: these thresholds are invalid: {name} is a share above 0 and at most 1; nothing was decided"
            )
    need_other_thresholds(hold, used)
    table = rows(context, hold)
    (limit,) = used.values()
    passes = pc.less_equal(table["share"], limit + ROUNDING).fill_null(False)
    released, rest = table.filter(passes), table.filter(pc.invert(passes))
    campaign = hold.campaign or ""
    left = [
        Found(
            vendor=hold.vendor,
            rule=hold.rule,
            category=None,
            campaign=hold.campaign,
            message=f"{rest.num_rows} of them are left of this: {hold.message}",
            thresholds=hold.thresholds,
            rows_path=context.lake.write_table("hold", "all", rest),
            before_path=None,
            identity=fingerprint(campaign, hold.rule, hold.vendor, rest["key"].to_pylist()),
            rows=rest.num_rows,
        )
        for _ in range(1 if released.num_rows and rest.num_rows else 0)
    ]
    return Divided(used, released, fingerprint(campaign, hold.rule, hold.vendor, released["key"].to_pylist()), left)


def release(context: Context, hold_id: int) -> dict[str, Any]:
    """Says when what was approved is sent: a run plans it, because it needs all of the campaign. No vendors: `deliver` has nothing to do."""
    with context.engine.connect() as connection:
        hold = known(connection, hold_id)
    if hold.state != HoldState.APPROVED:
        line = not_sent(hold)
    elif hold.released_at is not None:
        line = f"{hold.named}: run {hold.run_id} of the promotions has planned it"
    else:
        line = f"{hold.named}: {SENT}"
    return {"run": hold.run_id, "vendors": [], "label": hold.label, "line": line}


def send(context: Context, hold_ids: Sequence[int]) -> dict[str, Any]:
    """What becomes of approved holds: `{"released", "lines"}`."""
    released = [release(context, hold_id) for hold_id in hold_ids]
    return {"released": released, "lines": [one["line"] for one in released]}


def lock(connection: Connection, hold: Hold) -> None:
    """A plan and a decision share no lock but that of the hold."""


def approved(connection: Connection, hold: Hold) -> None:
    """The approval lets exactly its rows pass, and means nothing else."""


def waits(connection: Connection) -> dict[str, Any] | None:
    """`{"holds", "newest", "expired", "line"}` of the held campaigns that wait for a person; None: there is none."""
    left = waiting(connection, Subject.PROMOTIONS)
    if left is None:
        return None
    found, first, expired = left.holds, left.first, left.expired
    campaigns = sorted({hold.campaign or "" for hold in found})
    line = (
        f"{sum(hold.rows for hold in found):,} rows of {len(campaigns):,} campaigns ({some_of(campaigns)}) are held and wait for a person,"
        f" rules {', '.join(left.rules)}; they stay held until a decision or another value"
    )
    if first is not None:
        line += f". {expiry(connection, first)}"
    if expired:
        line += f". {expired:,} expired without a decision"
    line += f". {left.following}"
    return {"holds": len(found), "newest": found[0].hold_id, "expired": expired, "line": line}
