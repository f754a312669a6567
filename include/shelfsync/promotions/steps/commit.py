"""commit: writes the requests of a plan into the ledger in one transaction. If another process moved a promotion, the next run plans it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.ledger import promotions as ledger_promotions
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.replacement import lacks
from shelfsync.promotions.steps import holds
from shelfsync.promotions.warehouse import record

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.decisions.hold import Found
    from shelfsync.promotions.ledger.promotions import Promotion
    from shelfsync.promotions.ledger.runs import PromotionRun
    from shelfsync.promotions.plan import Step
    from shelfsync.promotions.steps.prepare import Prepared

_MOVED = "another process has moved it meanwhile; the next run sends what is left"


@dataclasses.dataclass(frozen=True)
class Request:
    """One request of the plan: the step it belongs to and the row of the ledger, but for numbers that the ledger gives."""

    step: Step
    row: dict[str, Any]
    version: int
    """The version of the promotion's acknowledged state that the difference was computed against."""


def commit(
    connection: Connection,
    run: PromotionRun,
    prepared: Prepared,
    requests: list[Request],
    report: dict[str, Any],
    *,
    held: list[Found],
    hours: float,
) -> None:
    """All rows of the plan in one transaction, in the order of sending. Campaigns that were passed over are added to `report`.

    `held`: what the guards hold, until a person decides within so many hours.

    No lease is held while a plan is computed. After the plan read the acknowledged state, a request of an earlier run may be sent and
    confirmed. The difference then lacks what that request changed, and must not count as complete.
    """
    promotion_jobs.supersede_planned(connection)
    decided = {"applied": prepared.applied, "spent": prepared.spent}
    holds.renew(connection, run, held, **decided, unread=prepared.unread, hours=hours)
    numbers = _promotions_of(connection, [request.step for request in requests])
    now = ledger_promotions.read_all(connection, numbers.values())
    rows, creations = [], []
    passed_over = set()
    unmade: dict[str, set[str]] = {}
    for request in requests:
        step, row = request.step, request.row
        have = now[numbers[_identity(step)]]
        if _moved(have, request) or (step.replaced and step.known is not None and lacks(step.known, unmade)):
            passed_over.add(step.campaign)
            if step.action != "end":
                for campaign in step.campaigns:
                    unmade.setdefault(campaign, set()).update(have.vendors)
            continue
        if row["action"] == "create" and row["piece"] == 1:
            creations.append((have.promotion_id, row["body_path"], row["body_bytes"]))
        rows.append({**row, "promotion_id": have.promotion_id, "run_id": run.run_id})
    ledger_promotions.keep_creations(connection, creations)
    record.record_promotions(connection, [row["promotion_id"] for row in rows])
    promotion_jobs.plan(connection, rows)
    report["counts"]["requests"] = len(rows)
    report["lines"] += [f"campaign {campaign}: passed over: {_MOVED}" for campaign in sorted(passed_over)]
    promotion_runs.planned(connection, run.run_id, report)


def _moved(have: Promotion, request: Request) -> bool:
    """Whether the promotion has changed since the request was planned."""
    return have.busy or have.waits or have.version != request.version


def _identity(step: Step) -> str:
    if step.wanted is not None:
        return step.wanted.identity
    assert step.known is not None
    return step.known.identity


def _promotions_of(connection: Connection, steps: list[Step]) -> dict[str, int]:
    """The numbers of the promotions by identity, their rows locked."""
    ledger_promotions.lock(connection, [step.known.promotion_id for step in steps if step.known is not None])
    made = [
        {
            "identity": step.wanted.identity,
            "campaign": step.wanted.head.campaign,
            "header": step.wanted.header,
            "vendors": list(step.wanted.vendors),
            "start_time": step.wanted.head.start,
            "end_time": step.wanted.head.end,
        }
        for step in steps
        if step.wanted is not None
    ]
    ended = {step.known.identity: step.known.promotion_id for step in steps if step.known is not None}
    return ended | ledger_promotions.find_or_make(connection, made)
