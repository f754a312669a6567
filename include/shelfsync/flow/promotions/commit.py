"""commit: the requests of a plan into the ledger, in one transaction; what another process has moved meanwhile is left to the next run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from shelfsync.ledger import promotion_holds, promotion_jobs, promotion_runs
from shelfsync.ledger import promotions as told_promotions
from shelfsync.promotions.plan import meet
from shelfsync.warehouse import promotions as record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.ledger.promotion_runs import PromotionRun
    from shelfsync.ledger.promotions import Promotion
    from shelfsync.promotions.guard import Hold
    from shelfsync.promotions.plan import Step

_MOVED = "another process has moved it meanwhile; the next run says what is left to say"


@dataclasses.dataclass(frozen=True)
class Request:
    """One request of the plan: the step it belongs to and the row of the ledger, but for numbers that the ledger gives."""

    step: Step
    row: dict[str, Any]
    version: int
    """That of the promotion when what it was told was read: the difference is against this, and against no other."""


def commit(
    connection: Connection, run: PromotionRun, holds: Sequence[Hold], requests: list[Request], told: dict[str, Any]
) -> None:
    """All rows of the plan in one transaction, in the order in which they are to be sent. `told` learns what was passed over.

    No lease is held while a plan is computed: a request of an earlier run may have left and been confirmed since what was told was read.
    The difference then misses what that moved, and would count as all there is to say.
    """
    promotion_runs.supersede_planned(connection)
    promotion_holds.note(connection, [dataclasses.asdict(hold) for hold in holds])
    rows = []
    passed_over = set()
    unmade: dict[str, set[str]] = {}
    for request in requests:
        step = request.step
        promotion_id = _promotion_of(connection, step)
        have = told_promotions.read(connection, promotion_id)
        if _moved(have, request) or (step.replaced and meet(have.vendors, unmade.get(step.campaign, ()))):
            passed_over.add(step.campaign)
            if step.action != "end":
                unmade.setdefault(step.campaign, set()).update(have.vendors)
            continue
        if request.row["action"] == "create" and request.row["piece"] == 1:
            told_promotions.keep_creation(connection, promotion_id, request.row["body_path"], request.row["body_bytes"])
        rows.append({**request.row, "promotion_id": promotion_id, "run_id": run.run_id})
        record.record_promotion(connection, promotion_id)
    promotion_jobs.plan(connection, rows)
    told["counts"]["requests"] = len(rows)
    told["lines"] += [f"campaign {campaign}: passed over: {_MOVED}" for campaign in sorted(passed_over)]
    promotion_runs.planned(connection, run.run_id, told)


def _moved(have: Promotion, request: Request) -> bool:
    """Whether the promotion is no longer what the request was made for."""
    return have.busy or have.waits or have.version != request.version


def _promotion_of(connection: Connection, step: Step) -> int:
    """The number of the promotion, its row locked."""
    if step.wanted is None:
        assert step.told is not None
        told_promotions.lock(connection, step.told.promotion_id)
        return step.told.promotion_id
    head = step.wanted.head
    return told_promotions.find_or_make(
        connection,
        identity=step.wanted.identity,
        campaign=head.campaign,
        header=head.as_json(),
        vendors=step.wanted.vendors,
        start_time=head.start,
        end_time=head.end,
    )
