"""commit: writes the requests of a plan into the ledger in one transaction. If another process moved a promotion, the next run plans it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from shelfsync.promotions.ledger import holds as promotion_holds
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.ledger import promotions as ledger_promotions
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.plan import lacks
from shelfsync.promotions.warehouse import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.promotions.guard import Hold
    from shelfsync.promotions.ledger.promotions import Promotion
    from shelfsync.promotions.ledger.runs import PromotionRun
    from shelfsync.promotions.plan import Step

_MOVED = "another process has moved it meanwhile; the next run sends what is left"


@dataclasses.dataclass(frozen=True)
class Request:
    """One request of the plan: the step it belongs to and the row of the ledger, but for numbers that the ledger gives."""

    step: Step
    row: dict[str, Any]
    version: int
    """The version of the promotion's acknowledged state that the difference was computed against."""


def commit(
    connection: Connection, run: PromotionRun, holds: Sequence[Hold], requests: list[Request], report: dict[str, Any]
) -> None:
    """All rows of the plan in one transaction, in the order of sending. Campaigns that were passed over are added to `report`.

    No lease is held while a plan is computed. After the plan read the acknowledged state, a request of an earlier run may be sent and
    confirmed. The difference then lacks what that request changed, and must not count as complete.
    """
    promotion_jobs.supersede_planned(connection)
    promotion_holds.note(connection, [dataclasses.asdict(hold) for hold in holds])
    rows = []
    passed_over = set()
    unmade: dict[str, set[str]] = {}
    for request in requests:
        step = request.step
        promotion_id = _promotion_of(connection, step)
        have = ledger_promotions.read(connection, promotion_id)
        if _moved(have, request) or (step.replaced and step.known is not None and lacks(step.known, unmade)):
            passed_over.add(step.campaign)
            if step.action != "end":
                for campaign in step.campaigns:
                    unmade.setdefault(campaign, set()).update(have.vendors)
            continue
        if request.row["action"] == "create" and request.row["piece"] == 1:
            ledger_promotions.keep_creation(
                connection, promotion_id, request.row["body_path"], request.row["body_bytes"]
            )
        rows.append({**request.row, "promotion_id": promotion_id, "run_id": run.run_id})
        record.record_promotions(connection, [promotion_id])
    promotion_jobs.plan(connection, rows)
    report["counts"]["requests"] = len(rows)
    report["lines"] += [f"campaign {campaign}: passed over: {_MOVED}" for campaign in sorted(passed_over)]
    promotion_runs.planned(connection, run.run_id, report)


def _moved(have: Promotion, request: Request) -> bool:
    """Whether the promotion has changed since the request was planned."""
    return have.busy or have.waits or have.version != request.version


def _promotion_of(connection: Connection, step: Step) -> int:
    """The number of the promotion, its row locked."""
    if step.wanted is None:
        assert step.known is not None
        ledger_promotions.lock(connection, [step.known.promotion_id])
        return step.known.promotion_id
    head = step.wanted.head
    return ledger_promotions.find_or_make(
        connection,
        identity=step.wanted.identity,
        campaign=head.campaign,
        header=step.wanted.header,
        vendors=step.wanted.vendors,
        start_time=head.start,
        end_time=head.end,
    )
