"""The status of an outlet, which many integrators use as their connection test (field notes, last part)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sqlalchemy import select, update

from partner_sandbox import bodies
from partner_sandbox.access.callers import TheSandbox, TheVendor
from partner_sandbox.access.tables import vendor as vendor_table

router = APIRouter(prefix="/v2/chains/{chain_id}/vendors/{vendor_id}")


class OutletStatus(BaseModel):
    """Whether the vendor takes orders."""

    status: Literal["OPEN", "CLOSED_TODAY", "CLOSED_UNTIL", "CHECKIN"]
    closed_reason: Annotated[str, Field(max_length=1000)] | None = None
    closed_until: Annotated[str, Field(max_length=100)] | None = None


@router.get("/status", name="outlet_status")
def read_status(sandbox: TheSandbox, vendor: TheVendor) -> dict[str, Any]:
    with sandbox.storage.begin() as connection:
        row = connection.execute(select(vendor_table).where(vendor_table.c.id == vendor.key)).one()
    return {"status": row.status, "closed_reason": row.closed_reason, "closed_until": row.closed_until}


@router.put("/status", name="outlet_status")
async def put_status(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> dict[str, Any]:
    body = await bodies.read(request, OutletStatus)
    with sandbox.storage.begin() as connection:
        mine = update(vendor_table).where(vendor_table.c.id == vendor.key)
        connection.execute(mine.values(body.model_dump()))
    return body.model_dump()
