"""Promotions (interface.md 4.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partner_api import answers, writing
from partner_api.exchange import Call, judged
from partner_api.models.promotion import Promotion, PromotionStatus
from partner_api.operations.catalog import JSON, receipt
from partner_api.operations.jobs import confirm_job, status_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partner_api.models.job import Job
    from partner_api.session import Session
    from partner_api.wire import StreamedBody


def put_promotion(
    session: Session,
    promotion: Promotion | bytes | StreamedBody,
    vendors: Sequence[str],
    *,
    priority: str = "promotion",
) -> Job:
    """Creates, changes or ends a promotion. The answer is a receipt; `promotion_status` returns the result.

    `promotion`: the promotion, or the whole JSON text of the body, sent with its exact length. `vendors`: those that it
    names, for the gate.
    """
    call = Call(
        "put_promotion",
        priority,
        tuple(vendors),
        "PUT",
        session.url(session.dialect.promotion_path),
        body=writing.dumps(promotion.wire()) if isinstance(promotion, Promotion) else promotion,
        headers=JSON,
    )
    answer = judged(session, call)
    return receipt(session, call, answer, at_once=False)


def promotion_status(session: Session, job_id: str, *, priority: str = "promotion") -> PromotionStatus:
    """The state of a promotion's job. NotEnabledError: the dialect has no such call."""
    call = status_call(session, "promotion_status", session.dialect.promotion_status_path, job_id, priority)
    answer = judged(session, call)
    body = answers.body_of(answer, call, session)
    confirm_job(session, job_id, body, call, answer)
    return PromotionStatus.read(job_id, body)
