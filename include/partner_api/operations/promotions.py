"""Promotions (interface.md 4.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partner_api import answers, writing
from partner_api.exchange import Call, judged
from partner_api.models.promotion import Promotion, PromotionStatus
from partner_api.operations.catalog import JSON, receipt
from partner_api.operations.jobs import confirm_job, status_call

if TYPE_CHECKING:
    from partner_api.models.job import Job
    from partner_api.session import Session
    from partner_api.wire import Steps, StreamedBody


def put_promotion(
    session: Session, promotion: Promotion | bytes | StreamedBody, *, lane: str = "promotion"
) -> Steps[Job]:
    """Creates, changes or ends a promotion: one call, one shape. The answer is a receipt; `promotion_status` tells what became of it.

    `promotion`: what it is, or the whole JSON text of the body, which goes out with its exact length.
    """
    call = Call(
        "put_promotion",
        lane,
        "PUT",
        session.url(session.dialect.promotion_path),
        body=writing.dumps(promotion.wire()) if isinstance(promotion, Promotion) else promotion,
        headers=JSON,
    )
    answer = yield from judged(session, call)
    return receipt(session, call, answer, at_once=False)


def promotion_status(session: Session, job_id: str, *, lane: str = "promotion") -> Steps[PromotionStatus]:
    """One look at a promotion's job. NotEnabledError where the dialect has no such call."""
    call = status_call(session, "promotion_status", session.dialect.promotion_status_path, job_id, lane)
    answer = yield from judged(session, call)
    body = answers.body_of(answer, call, session)
    confirm_job(session, job_id, body, call, answer)
    return PromotionStatus.read(job_id, body)
