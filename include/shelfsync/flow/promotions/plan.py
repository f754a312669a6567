"""plan: what the ERP wants against what the platform was told, as requests, committed before anything is sent."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import DataError, StaleRunError
from shelfsync.flow.promotions.commit import Request, commit
from shelfsync.flow.promotions.prepare import prepare
from shelfsync.ledger import promotion_holds, promotion_rejections, promotion_runs
from shelfsync.ledger import promotions as told_promotions
from shelfsync.ledger.instant import instant
from shelfsync.promotions.guard import Hold
from shelfsync.promotions.plan import UNMADE, Planned, Told, meet
from shelfsync.promotions.plan import plan as pure_plan
from shelfsync.promotions.shape import EVERY
from shelfsync.warehouse import promotions as record

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa

    from shelfsync.flow.house import Parts
    from shelfsync.flow.promotions.prepare import Prepared
    from shelfsync.ledger.promotion_runs import PromotionRun
    from shelfsync.ledger.promotions import Promotion
    from shelfsync.promotions.plan import Step

log = logging.getLogger(__name__)


def plan(parts: Parts, run_id: int) -> dict[str, Any]:
    """Commits the requests of a run, or in a dry run only tells of them: `{"counts", "actions", "lines"}`.

    StaleRunError: a newer run has planned; this one need not.
    """
    with parts.engine.connect() as connection:
        run = promotion_runs.read(connection, run_id)
    if run.planned_at is not None or run.generation is None:
        return run.told or {"counts": {}, "actions": [], "lines": ["nothing was read"]}
    prepared = prepare(parts, run)
    planned, known = _steps(parts, run, prepared)
    requests = _requests(parts, prepared, planned, known)
    told = _told(prepared, planned, requests)
    with parts.engine.begin() as connection:
        if run.dry_run:
            promotion_runs.planned(connection, run_id, told)
        elif not promotion_runs.pass_fence(connection, run.generation):
            promotion_runs.close(connection, run_id, state="superseded", error="a newer run has planned")
        else:
            commit(connection, run, prepared.holds, requests, told)
        record.record_run(connection, run_id)
        stale = promotion_runs.read(connection, run_id).state == "superseded"
    if stale:
        raise StaleRunError(f"promotion run {run_id}: a newer run has planned; nothing older is sent")
    return told


def _steps(parts: Parts, run: PromotionRun, prepared: Prepared) -> tuple[Planned, dict[str, Promotion]]:
    """What is to be done about which promotion; ends of too many at once are held."""
    with parts.engine.connect() as connection:
        now: dt.datetime = connection.execute(sa.select(instant())).scalar_one()
        rows = told_promotions.current(connection)
        rows += told_promotions.of_identities(
            connection, {one.identity for one in prepared.wanted} - {row.identity for row in rows}
        )
        released = promotion_holds.released(connection)
    rows = _in_reach(rows, parts.settings.sync.vendors, prepared)
    planned = pure_plan(
        prepared.wanted,
        [_told_of(row) for row in rows],
        now=now,
        frozen=prepared.frozen,
        absence_believed=bool(run.complete),
    )
    live = sum(row.state == "told" and row.end_time > now for row in rows)
    share = parts.settings.promotions.ended_share_max
    if len(planned.absent) > 1 and len(planned.absent) > share * live:
        hold = _hold_of_ends(planned.absent, live)
        if hold.fingerprint not in released:
            prepared.holds.append(hold)
            kept = {one.identity for one in planned.absent}
            steps = [
                step for step in planned.steps if step.wanted or step.told is None or step.told.identity not in kept
            ]
            planned = dataclasses.replace(planned, steps=steps)
    return planned, {row.identity: row for row in rows}


def _in_reach(rows: list[Promotion], only: tuple[str, ...], prepared: Prepared) -> list[Promotion]:
    """Promotions that this installation may touch. One that others share with vendors outside the setting keeps its campaign as it is."""
    if not only:
        return rows
    for row in rows:
        if row.there and set(row.vendors) & {*only, EVERY} and not set(row.vendors) <= set(only):
            prepared.frozen.setdefault(
                row.campaign,
                "its promotion is also told for vendors that SHELFSYNC_SYNC__VENDORS leaves out; it stays until they are named there",
            )
    return [row for row in rows if set(row.vendors) <= set(only)]


def _hold_of_ends(absent: list[Told], live: int) -> Hold:
    digest = hashlib.sha256("".join(sorted(one.identity for one in absent)).encode()).hexdigest()
    named = ", ".join(sorted({one.campaign for one in absent})[:5])
    message = f"{len(absent)} of {live} promotions in force have left the ERP at once ({named}); ending them is held"
    return Hold("*", "ended", "", digest, len(absent), message)


def _told_of(row: Promotion) -> Told:
    return Told(
        promotion_id=row.promotion_id,
        identity=row.identity,
        campaign=row.campaign,
        vendors=row.vendors,
        start=row.start_time,
        end=row.end_time,
        state=row.state,
        told_path=row.told_path,
        wanted_path=row.wanted_path,
        header=row.header,
        busy=row.busy,
        waits=row.waits,
    )


def _requests(parts: Parts, prepared: Prepared, planned: Planned, known: dict[str, Promotion]) -> list[Request]:
    """The requests of all steps, their items and bodies in the lake."""
    requests: list[Request] = []
    unmade: dict[str, set[str]] = {}
    for step in planned.steps:
        try:
            if step.action == "end":
                assert step.told is not None
                if step.replaced and meet(step.told.vendors, unmade.get(step.campaign, ())):
                    planned.passed_over[step.campaign] = UNMADE
                    continue
                requests += _end(parts, step, known[step.told.identity], prepared)
                continue
            assert step.wanted is not None
            said = _say(parts, step, known.get(step.wanted.identity), prepared)
        except DataError as error:  # one campaign that cannot be said stops no other (I10)
            prepared.frozen[step.campaign] = str(error)
            said = []
        requests += said
        # refused before, or beyond what can be said: nothing makes it now
        if step.wanted and step.action == "create" and not said:
            unmade.setdefault(step.campaign, set()).update(step.wanted.vendors)
    return requests


def _say(parts: Parts, step: Step, have: Promotion | None, prepared: Prepared) -> list[Request]:
    """A promotion made or changed: what differs from what was told, cut into requests."""
    from shelfsync.promotions.body import cut, frame, vendor_count
    from shelfsync.promotions.diff import diff
    from shelfsync.promotions.shape import TOLD

    wanted, settings = step.wanted, parts.settings.promotions
    assert wanted is not None
    header = wanted.head.as_json()
    again = prepared.again.get(have.promotion_id, set()) if have is not None else set()
    blocked, due = (None, set()) if have is None else _refused(parts, have, len(wanted.vendors))
    again |= due
    new_head = have is not None and step.action == "change" and _shared(have.header) != _shared(header)
    if (
        step.action == "change"
        and have is not None
        and have.wanted_path == wanted.entries_path
        and not (again or new_head)
    ):
        return []
    there = have is not None and have.state in {"told", "ended"} and have.told_path is not None
    told = parts.lake.read_table(have.told_path or "") if there and have is not None else TOLD.empty_table()
    items = diff(
        parts.lake.read_table(wanted.entries_path),
        told,
        blocked=blocked,
        again=_texts(again),
        whole=new_head or step.action == "create",
    )
    around = frame(wanted.head, wanted.vendors)
    count = vendor_count(wanted.vendors, len(prepared.vendors_known))
    rows: list[dict[str, Any]] = []
    for piece in cut(
        items, around, vendors=count, body_bytes_max=settings.body_bytes_max, pairs_max=settings.pairs_max
    ):
        rows.append(
            {
                "action": step.action,
                "piece": len(rows) + 1,
                "header": header,
                "items_path": parts.lake.write_table("promotion_items", "all", piece.items),
                "wanted_path": wanted.entries_path,
                "body_path": parts.lake.write_bytes("promotion_body", "all", ".json", piece.body),
                "body_bytes": len(piece.body),
                "skus": piece.items.num_rows,
                "vendors": count,
                "sent": piece.items.num_rows * count,
            }
        )
    version = 0 if have is None else have.version
    return [Request(step, {**row, "pieces": len(rows)}, version) for row in rows]


def _end(parts: Parts, step: Step, have: Promotion, prepared: Prepared) -> list[Request]:
    """The end of a promotion: the body of its creation with the flag turned."""
    from shelfsync.promotions.body import ACTIVE, INACTIVE, vendor_count
    from shelfsync.promotions.diff import diff
    from shelfsync.promotions.shape import ENTRY, TOLD

    if have.created_body_path is None:
        return []
    told = TOLD.empty_table() if have.told_path is None else parts.lake.read_table(have.told_path)
    items = diff(ENTRY.empty_table(), told)
    count = vendor_count(have.vendors, len(prepared.vendors_known))
    row = {
        "action": "end",
        "piece": 1,
        "pieces": 1,
        "header": have.header,
        "items_path": parts.lake.write_table("promotion_items", "all", items),
        "wanted_path": None,
        "body_path": have.created_body_path,
        "body_bytes": have.created_body_bytes + len(INACTIVE) - len(ACTIVE),
        "skus": items.num_rows,
        "vendors": count,
        "sent": items.num_rows * count,
    }
    return [Request(step, row, have.version)]


def _refused(parts: Parts, have: Promotion, vendors: int) -> tuple[pa.Table | None, set[str]]:
    """SKUs that every vendor refused, at the values they had (ENTRY); and those refused long enough ago to be tried again."""
    import pyarrow as pa

    from shelfsync.promotions.shape import ENTRY

    with parts.engine.connect() as connection:
        rows = promotion_rejections.of_promotion(
            connection, have.promotion_id, retry_s=parts.settings.promotions.retry_s
        )
    by_sku: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_sku.setdefault(row["sku"], []).append(row)
    everywhere = [of[0] for sku, of in sorted(by_sku.items()) if len(of) >= vendors or "*" in have.vendors]
    due = {row["sku"] for row in rows if row["due"]}
    if not everywhere:
        return None, due
    return pa.Table.from_pylist([{name: row[name] for name in ENTRY.names} for row in everywhere], schema=ENTRY), due


def _texts(skus: set[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(sorted(skus), pa.string())


def _shared(header: dict[str, Any]) -> dict[str, Any]:
    """What a change of the head is about; the campaign's own identifier is not told."""
    return {name: value for name, value in header.items() if name != "campaign"}


def _told(prepared: Prepared, planned: Planned, requests: list[Request]) -> dict[str, Any]:
    """What a person should know, small enough for an XCom."""
    actions: dict[tuple[str, str, str], dict[str, Any]] = {}
    for request in requests:
        step, row = request.step, request.row
        head = step.wanted.head.name if step.wanted else next(iter(step.told.header["display_name"].values()))  # type: ignore[union-attr]
        key = (row["action"], step.campaign, str(step.wanted.identity if step.wanted else step.told.identity))  # type: ignore[union-attr]
        one = actions.setdefault(
            key,
            {
                "action": row["action"],
                "campaign": step.campaign,
                "name": head,
                "vendors": row["vendors"],
                "skus": 0,
                "requests": 0,
                "replaced": step.replaced,
            },
        )
        one["skus"] += row["skus"]
        one["requests"] += 1
    counts = dict(prepared.counts) | {
        "created": sum(one["action"] == "create" for one in actions.values()),
        "changed": sum(one["action"] == "change" for one in actions.values()),
        "ended": sum(one["action"] == "end" for one in actions.values()),
        "requests": len(requests),
    }
    lines = [f"campaign {campaign}: left alone: {why}" for campaign, why in sorted(prepared.frozen.items())]
    lines += [f"campaign {campaign}: passed over: {why}" for campaign, why in sorted(planned.passed_over.items())]
    lines += [f"held ({hold.rule}), vendor {hold.vendor or '*'}: {hold.message}" for hold in prepared.holds]
    return {"counts": counts, "actions": list(actions.values())[:200], "lines": [*lines, *prepared.lines][:200]}
