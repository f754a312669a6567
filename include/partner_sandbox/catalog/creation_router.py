"""POST on the catalog of the chain: early access, 501 outside the pilot (interface.md 4.5, 9)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from partner_sandbox import bodies
from partner_sandbox.access.callers import TheChain, TheSandbox
from partner_sandbox.catalog import creation
from partner_sandbox.errors import ApiError
from partner_sandbox.jobs import answers
from partner_sandbox.jobs.files import address_of

router = APIRouter()


@router.post("/v2/chains/{chain_id}/catalog", name="create_products")  # noqa: FAST003  chain_id: TheChain takes it
async def create_products(request: Request, sandbox: TheSandbox, chain: TheChain) -> Response:
    """Accepts new products for review; a job reports the result."""
    if not chain.creation_enabled:
        raise ApiError(501, "NOT_IMPLEMENTED", "Product creation is in early access and not enabled for this partner")
    asked = await bodies.read(request, creation.Creation)
    job, duplicated = creation.take(sandbox, chain, asked, address_of(sandbox, request))
    return await answers.accepted(sandbox, job, request, more={"duplicated_products": duplicated})
