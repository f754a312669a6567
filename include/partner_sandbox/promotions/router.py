"""PUT a promotion and read its result (interface.md 4.7; field notes, Promotions)."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError
from sqlalchemy import func, select

from partner_sandbox import bodies
from partner_sandbox.access.callers import Chain, TheChain, TheSandbox
from partner_sandbox.access.tables import vendor as vendor_table
from partner_sandbox.errors import not_found
from partner_sandbox.jobs import answers as job_answers
from partner_sandbox.jobs import jobs
from partner_sandbox.jobs.files import address_of
from partner_sandbox.promotions import answers, store
from partner_sandbox.promotions.body import PromotionBody, check
from partner_sandbox.sandbox import Sandbox

router = APIRouter(prefix="/v2/chains/{chain_id}/promotion")


@router.put("", name="put_promotion")
async def put_promotion(request: Request, sandbox: TheSandbox, chain: TheChain) -> Response:
    """Creates, modifies or deactivates: a job does it."""
    body = await request.body()
    job = await asyncio.to_thread(_take, sandbox, chain, body, address_of(sandbox, request))
    return await job_answers.accepted(sandbox, job, request)


@router.get("/jobs/{job_id}", name="promotion_status")
def promotion_status(job_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """The state of a promotion's job and, once it has ended, what it left out."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_id(connection, chain.chain, job_id)
    if job is None or job.kind != "promotion":
        raise not_found("Job")
    return answers.status_of(sandbox, job)


def _take(sandbox: Sandbox, chain: Chain, text: bytes, address: str) -> jobs.Job:
    try:
        body = PromotionBody.model_validate_json(text)
    except ValidationError as error:
        raise bodies.validation_error(error) from None
    with sandbox.storage.begin() as connection:
        vendors = select(func.count()).select_from(vendor_table).where(vendor_table.c.chain == chain.chain)
        check(body, sandbox.behaviour, connection.execute(vendors).scalar_one())
        job = jobs.receive(connection, sandbox, "promotion", address, chain=chain.chain)
        store.keep_request(connection, job.seq, text)
        return jobs.queue(connection, sandbox, job.seq, sum(len(entry.sku) for entry in body.discount))
