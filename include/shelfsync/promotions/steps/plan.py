"""plan: compares what the ERP wants with the acknowledged state, and commits the requests before any is sent."""

from __future__ import annotations

import dataclasses
import datetime as dt
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.decisions.hold import REOPENED
from shelfsync.decisions.ledger import approvals
from shelfsync.decisions.ledger import holds as decided_holds
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps.lists import would_wait
from shelfsync.errors import DataError, StaleRunError
from shelfsync.promotions import left_alone
from shelfsync.promotions.ahead_days import waiting
from shelfsync.promotions.body import ACTIVE, INACTIVE, cut, frame, vendor_count
from shelfsync.promotions.campaign_dates import minutes
from shelfsync.promotions.changed_entries import changed_entries, leaving
from shelfsync.promotions.guard import ENDED, fingerprint, hold_of_ends
from shelfsync.promotions.head import EVERY
from shelfsync.promotions.ledger import promotions as ledger_promotions
from shelfsync.promotions.ledger import rejections as ledger_rejections
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.plan import FAILED_LATELY, Planned
from shelfsync.promotions.plan import plan as pure_plan
from shelfsync.promotions.replacement import NOT_CREATED, lacks
from shelfsync.promotions.schemas import ENTRY
from shelfsync.promotions.steps import holds
from shelfsync.promotions.steps.acknowledge import read_acknowledged
from shelfsync.promotions.steps.commit import Request, commit
from shelfsync.promotions.steps.deliver import forecast
from shelfsync.promotions.steps.prepare import prepare
from shelfsync.promotions.warehouse import record
from shelfsync.store.lake import OneFileError
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold as DecidedHold
    from shelfsync.promotions.guard import Hold
    from shelfsync.promotions.ledger.promotions import Promotion
    from shelfsync.promotions.ledger.runs import PromotionRun
    from shelfsync.promotions.plan import Step
    from shelfsync.promotions.steps.prepare import Prepared

log = logging.getLogger(__name__)
HELD_SHOWN = 5
"""If one rule holds more campaigns, the report has one line for all of them."""


def plan(context: Context, run_id: int) -> dict[str, Any]:
    """Commits the requests of a run, or in a dry run only reports them: `{"counts", "actions", "lines"}`.

    Raises StaleRunError if a newer run has planned.
    """
    with context.engine.connect() as connection:
        run = promotion_runs.read(connection, run_id)
    if run.planned_at is not None or run.generation is None:
        return run.report or {"counts": {}, "actions": [], "lines": ["nothing was read"]}
    with promotion_runs.cause_kept(context.engine, run_id):
        prepared = prepare(context, run)
    planned, known = _steps(context, run, prepared)
    requests = _requests(context, prepared, planned, known)
    report = _report(context, prepared, planned, requests)
    held = [] if run.dry_run else holds.written(context, prepared.holds)
    with context.engine.begin() as connection:
        if run.dry_run:
            promotion_runs.planned(connection, run_id, report)
        elif not promotion_runs.pass_fence(connection, run.generation):
            promotion_runs.close(connection, run_id, state="superseded", error="a newer run has planned")
        else:
            hours = context.settings.guards.hold_hours
            commit(connection, run, prepared, requests, report, held=held, hours=hours)
        record.RUN.copy(connection, [run_id])
        stale = promotion_runs.read(connection, run_id).state == "superseded"
    if stale:
        raise StaleRunError(f"promotion run {run_id}: a newer run has planned; nothing older is sent")
    return report


def _steps(context: Context, run: PromotionRun, prepared: Prepared) -> tuple[Planned, dict[str, Promotion]]:
    """The action for each promotion. If too many promotions would end at once, the ends are held."""
    with context.engine.connect() as connection:
        now: dt.datetime = connection.execute(sa.select(instant())).scalar_one()
        rows = ledger_promotions.current(connection)
        rows += ledger_promotions.of_identities(
            connection, {promotion.identity for promotion in prepared.wanted} - {row.identity for row in rows}
        )
        approved = [hold for hold in approvals.approved(connection, Subject.PROMOTIONS) if hold.rule == ENDED]
        in_force = decided_holds.in_force(connection, Subject.PROMOTIONS)
    unwanted = {row.identity for row in rows if row.there and row.end_time > now}
    unwanted -= {promotion.identity for promotion in prepared.wanted}
    rows = _in_reach(rows, context.settings.sync.vendors, prepared)
    planned = pure_plan(
        prepared.wanted,
        rows,
        now=now,
        frozen=prepared.frozen,
        absence_believed=bool(run.complete),
        unoffered=prepared.unoffered,
        ahead=dt.timedelta(days=context.settings.promotions.ahead_days),
    )
    live = sum(row.there and row.end_time > now for row in rows)
    decided = _approved_ends(context, approved, unwanted, {one.identity for one in planned.absent}, prepared)
    absent = [
        one for one in planned.absent if one.identity not in decided and not prepared.forgotten.issuperset(one.vendors)
    ]  # a person ended the rest
    declined = _declined_ends(context, in_force, {one.identity for one in absent})
    hold = hold_of_ends(absent, live, context.settings.promotions.ended_share_max, declined)
    if hold is not None:
        prepared.holds.append(hold)
        kept = {promotion.identity for promotion in absent}
        steps = [step for step in planned.steps if step.wanted or step.known is None or step.known.identity not in kept]
        planned = dataclasses.replace(planned, steps=steps)
    return planned, {row.identity: row for row in rows}


def _declined_ends(context: Context, in_force: Iterable[DecidedHold], absent: set[str]) -> set[str]:
    """The promotions whose end a person has declined. If the rows of such a hold are lost, it may be any of those that are `absent`."""
    ends: set[str] = set()
    for hold in in_force:
        if hold.rule == ENDED and hold.state in REOPENED:
            keys = holds.keys_if_kept(context, hold)
            ends |= absent if keys is None else keys
    return ends


def _approved_ends(
    context: Context, approved: list[DecidedHold], unwanted: set[str], absent: set[str], prepared: Prepared
) -> set[str]:
    """The promotions that a person has approved to end, whatever else ends with them or has ended before.

    An approval of which none is `unwanted` any more is spent: if its promotions come and leave again, a person decides again.
    """
    ends: set[str] = set()
    for hold in approved:
        keys = holds.keys_if_kept(context, hold)
        if keys is None:  # then it is known only whether it was for all that are absent now
            if hold.identity != fingerprint(EVERY, ENDED, EVERY, absent):
                continue
            keys = absent
        if keys.isdisjoint(unwanted):
            prepared.spent.add(hold.hold_id)
        elif found := keys & absent:
            ends |= found
            prepared.applied.add(hold.hold_id)
    return ends


def _in_reach(rows: list[Promotion], only: tuple[str, ...], prepared: Prepared) -> list[Promotion]:
    """Promotions that this installation may change. If a promotion also has vendors outside the setting, its campaign is frozen.

    A forgotten vendor is not outside: it was this installation's, and its promotions end.
    """
    if not only:
        return rows
    only = (*only, *prepared.forgotten)
    for campaign, why in left_alone.shared_with_others(rows, only).items():
        prepared.frozen.setdefault(campaign, why)
    return [row for row in rows if set(row.vendors) <= set(only)]


def _requests(context: Context, prepared: Prepared, planned: Planned, known: dict[str, Promotion]) -> list[Request]:
    """The requests of all steps, their items and bodies in the lake."""
    requests: list[Request] = []
    unmade: dict[str, set[str]] = {}
    with context.engine.connect() as connection:
        due = ledger_rejections.due(connection, retry_s=context.settings.promotions.retry_s)
    for promotion_id, skus in due.items():
        prepared.again[promotion_id] |= skus
    for step in planned.steps:
        try:
            if step.action == "end":
                assert step.known is not None
                if step.replaced and lacks(step.known, unmade):
                    planned.passed_over[step.campaign] = NOT_CREATED
                    continue
                requests += _end(context, step, known[step.known.identity], prepared)
                continue
            assert step.wanted is not None
            changes = _create_or_change(context, step, known.get(step.wanted.identity), prepared)
        except (DataError, OneFileError) as error:  # one campaign that cannot be sent stops no other (I10)
            log.error("promotions, plan: campaign %s: %s", step.campaign, error)  # noqa: TRY400
            prepared.frozen[step.campaign] = prepared.unplanned[step.campaign] = str(error)
            changes = []
        requests += changes
        # rejected before, or not possible in a request: this plan does not create it
        if step.wanted and step.action == "create" and not changes:
            for campaign in step.campaigns:
                unmade.setdefault(campaign, set()).update(step.wanted.vendors)
    return requests


def _create_or_change(context: Context, step: Step, have: Promotion | None, prepared: Prepared) -> list[Request]:
    """The requests that create or change a promotion: its difference from the acknowledged state."""
    wanted, settings = step.wanted, context.settings.promotions
    assert wanted is not None
    header = wanted.header
    again = prepared.again.get(have.promotion_id, set()) if have is not None else set()
    new_head = have is not None and step.action == "change" and _shared(have.header) != _shared(header)
    if (
        step.action == "change"
        and have is not None
        and have.wanted_path == wanted.entries_path
        and not (again or new_head)
    ):
        return []
    blocked = None if have is None else _rejected(context, have, len(wanted.vendors))
    there = have is not None and have.state in {"sent", "ended"} and have.acknowledged_path is not None
    acknowledged = read_acknowledged(context.lake, have.acknowledged_path if there and have is not None else None)
    items = changed_entries(
        context.lake.read_table(wanted.entries_path),
        acknowledged,
        blocked=blocked,
        resend=_texts(again),
        whole=new_head or step.action == "create",
    )
    around = frame(wanted.head, wanted.vendors)
    count = vendor_count(wanted.vendors, len(prepared.vendors_known))
    rows: list[dict[str, Any]] = []
    for piece in cut(
        items, around, vendors=count, body_max_bytes=settings.body_max_bytes, pairs_max=settings.pairs_max
    ):
        rows.append(
            {
                "action": step.action,
                "piece": len(rows) + 1,
                "header": header,
                "items_path": context.lake.write_table("promotion_items", "all", piece.items),
                "wanted_path": wanted.entries_path,
                "body_path": context.lake.write_bytes("promotion_body", "all", ".json", piece.body),
                "body_bytes": len(piece.body),
                "skus": piece.items.num_rows,
                "vendors": count,
                "sent": piece.items.num_rows * count,
            }
        )
    version = 0 if have is None else have.version
    return [Request(step, {**row, "pieces": len(rows)}, version) for row in rows]


def _end(context: Context, step: Step, have: Promotion, prepared: Prepared) -> list[Request]:
    """The request that ends a promotion: the body that created it, with the flag `active` false."""
    if have.created_body_path is None:
        return []
    items = leaving(read_acknowledged(context.lake, have.acknowledged_path))
    count = vendor_count(have.vendors, len(prepared.vendors_known))
    row = {
        "action": "end",
        "piece": 1,
        "pieces": 1,
        "header": have.header,
        "items_path": context.lake.write_table("promotion_items", "all", items),
        "wanted_path": None,
        "body_path": have.created_body_path,
        "body_bytes": have.created_body_bytes + len(INACTIVE) - len(ACTIVE),
        "skus": items.num_rows,
        "vendors": count,
        "sent": items.num_rows * count,
    }
    return [Request(step, row, have.version)]


def _rejected(context: Context, have: Promotion, vendors: int) -> pa.Table | None:
    """SKUs that were rejected for every vendor, with the rejected values (ENTRY); None: there are none."""
    import pyarrow as pa

    with context.engine.connect() as connection:
        rows = ledger_rejections.of_promotion(connection, have.promotion_id)
    by_sku: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_sku.setdefault(row["sku"], []).append(row)
    everywhere = [of[0] for sku, of in sorted(by_sku.items()) if len(of) >= vendors or "*" in have.vendors]
    if not everywhere:
        return None
    return pa.Table.from_pylist([{name: row[name] for name in ENTRY.names} for row in everywhere], schema=ENTRY)


def _texts(skus: set[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(sorted(skus), pa.string())


def _shared(header: dict[str, Any]) -> dict[str, Any]:
    """The part of the head that is sent: everything but the campaigns' own identifiers."""
    return {name: value for name, value in header.items() if name not in {"campaign", "also"}}


def _declined_lines(holds: list[Hold]) -> list[str]:
    """A count of what a person has declined. It is no question until the ERP changes it."""
    campaigns = {hold.campaign for hold in holds} - {EVERY}
    lines = [
        f"declined: the end of {hold.skus} promotions, which stay until the ERP changes them"
        for hold in holds
        if hold.campaign == EVERY
    ]
    if campaigns:
        one = len(campaigns) == 1
        lines.append(
            f"declined: {len(campaigns)} campaign{'' if one else 's'}, not sent until {'it changes' if one else 'they change'}"
        )
    return lines


def _held_lines(holds: list[Hold]) -> list[str]:
    """One line a hold; of a cause with many campaigns one line for all of them: an operator decides them together."""
    by_rule: dict[str, list[Hold]] = {}
    for hold in holds:
        by_rule.setdefault(hold.rule, []).append(hold)
    lines = []
    for rule, of_rule in by_rule.items():
        campaigns = sorted({hold.campaign for hold in of_rule})
        if len(campaigns) > HELD_SHOWN:
            named = ", ".join(campaigns[:HELD_SHOWN])
            lines.append(
                f"held ({rule}): {len(campaigns)} campaigns, {sum(hold.skus for hold in of_rule):,} SKUs ({named}, …);"
                f" `shelfsync holds list` lists them, `shelfsync holds approve --rule {rule} --reason TEXT` decides them together"
            )
        else:
            lines += [f"held ({rule}), vendor {hold.vendor or '*'}: {hold.message}" for hold in of_rule]
    return lines


def _would_wait(held: list[Hold]) -> dict[str, Any] | None:
    """`{"line"}` about what a plan would hold, and no operator has declined; None: nothing."""
    if not held:
        return None
    campaigns = {hold.campaign for hold in held}
    what = f"{sum(hold.skus for hold in held):,} rows of {len(campaigns):,} campaigns"
    return {"line": would_wait(what, campaigns, {hold.rule for hold in held})}


def _report(context: Context, prepared: Prepared, planned: Planned, requests: list[Request]) -> dict[str, Any]:
    """What an operator should know, small enough for an XCom."""
    actions: dict[tuple[str, str, str], dict[str, Any]] = {}
    for request in requests:
        step, row = request.step, request.row
        head = step.wanted.head.name if step.wanted else next(iter(step.known.header["display_name"].values()))  # type: ignore[union-attr]
        key = (row["action"], step.campaign, str(step.wanted.identity if step.wanted else step.known.identity))  # type: ignore[union-attr]
        action = actions.setdefault(
            key,
            {
                "action": row["action"],
                "campaign": step.campaign,
                "name": head,
                "vendors": row["vendors"],
                "skus": 0,
                "requests": 0,
                "replaced": step.replaced,
                "window": minutes(step.wanted.head.start, step.wanted.head.end, context.settings.time_zone)
                if step.wanted
                else None,
            },
        )
        action["skus"] += row["skus"]
        action["requests"] += 1
    with context.engine.connect() as connection:
        in_force = decided_holds.in_force(connection, Subject.PROMOTIONS)
    declined = [
        hold
        for hold in prepared.holds
        if (found := holds.decided_with(context, hold, in_force)) is not None and found.state == HoldState.DECLINED
    ]
    fingerprints = {hold.fingerprint for hold in declined}
    done = Counter(action["action"] for action in actions.values())
    counts = dict(prepared.counts) | {
        "created": done["create"],
        "changed": done["change"],
        "ended": done["end"],
        "requests": len(requests),
        "promotions_waiting": len(planned.later),
        "campaigns_declined": len({hold.campaign for hold in declined} - {EVERY}),
    }
    lines = [f"campaign {campaign}: left alone: {why}" for campaign, why in sorted(prepared.frozen.items())]
    lines += [f"campaign {campaign}: passed over: {why}" for campaign, why in sorted(planned.passed_over.items())]
    undecided = [hold for hold in prepared.holds if hold.fingerprint not in fingerprints]
    lines += _held_lines(undecided)
    lines += _declined_lines(declined)
    waits = {campaign: why for campaign, why in planned.passed_over.items() if why == FAILED_LATELY}
    reasons = dict(sorted(prepared.reasons.items(), key=lambda item: -item[1]["rows"]))
    first = [
        f"quarantined: {of['rows']:,} rows: {word}, such as at vendor {of['vendor']}: {of['example']}"
        for word, of in reasons.items()
    ]
    later = waiting(planned.later, days=context.settings.promotions.ahead_days)
    if later is not None:
        first.insert(0, later["line"])
    ahead = forecast(context, len(requests))
    if requests:
        first.insert(0, f"sending takes {ahead.sentence()}: each request is sent and its job polled once")
    return {
        "counts": counts,
        "forecast": {"requests": ahead.requests, "minutes": ahead.minutes, "minutes_at_floor": ahead.minutes_at_floor},
        "reasons": reasons,
        "unread": prepared.unread,
        "unplanned": {**waits, **prepared.unplanned},
        "waiting": later,
        "waits": _would_wait(undecided),
        "actions": list(actions.values())[:200],
        "lines": [*first, *lines, *prepared.lines][:200],
    }
