"""The catalog of a vendor: update, listing, categories, export (interface.md 4.1 to 4.4)."""

from __future__ import annotations

import asyncio
import re
import tempfile
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from partner_sandbox import bodies
from partner_sandbox.access.callers import TheSandbox, TheVendor
from partner_sandbox.catalog import export, listing, update
from partner_sandbox.catalog.body import BodyError
from partner_sandbox.errors import invalid
from partner_sandbox.jobs import answers, jobs, runner
from partner_sandbox.jobs.files import address_of
from partner_sandbox.sandbox import Sandbox

router = APIRouter(prefix="/v2/chains/{chain_id}/vendors/{vendor_id}")
IN_MEMORY_BYTES_MAX = 4 * 1024 * 1024
PAGE_MAX = 1_000_000
LOCALE = re.compile(r"[a-z]{2}_[A-Z]{2}")


@router.put("/catalog", name="put_catalog")
async def put_catalog(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> Response:
    """Accepts items and answers at once; a job applies them (interface.md 4.1)."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES_MAX) as file:
        async for piece in request.stream():
            file.write(piece)
        file.seek(0)
        try:
            job = await asyncio.to_thread(update.take, sandbox, vendor, file, address_of(sandbox, request))
        except BodyError as error:
            raise invalid(error.field, error.problem) from None
    if job.items == 1 and sandbox.behaviour.single_item_answer == "sku":
        return await asyncio.to_thread(_done_at_once, sandbox, job)
    return await answers.accepted(sandbox, job, request)


def _done_at_once(sandbox: Sandbox, job: jobs.Job) -> Response:
    """The older form: the answer holds the single product and no job."""
    sku = update.single_key(sandbox, job)
    runner.finish(sandbox, job)
    return JSONResponse({"sku": sku})


@router.get("/catalog", name="list_catalog")
def list_catalog(
    sandbox: TheSandbox,
    vendor: TheVendor,
    page: str | None = None,
    page_size: str | None = None,
    query_term: str | None = None,
    category_global_ids: Annotated[list[str] | None, Query()] = None,
    locale: str | None = None,
    is_active: str | None = None,
) -> dict[str, Any]:
    """A page of products. `page_number` as a parameter is ignored, as live."""
    behaviour = sandbox.behaviour
    number = bodies.whole("page", page, 1, most=PAGE_MAX)
    largest = behaviour.listing_page_size_max
    page_size_max = largest if behaviour.listing_page_size_beyond == "refuse" else None
    size = bodies.whole("page_size", page_size, behaviour.listing_page_size_default, most=page_size_max)
    wanted = listing.Wanted(
        term=query_term or None,
        categories=_words(category_global_ids),
        locale=_locale(locale),
        active=bodies.truth("is_active", is_active),
    )
    stuck = sandbox.faults.draw("list_catalog", "first_page_again", vendor=vendor.vendor)
    with sandbox.storage.begin() as connection:
        answer = listing.read(connection, vendor, wanted, 1 if stuck else number, min(size, largest))
    if sandbox.faults.draw("list_catalog", "endless_pages", vendor=vendor.vendor):
        answer["total_pages"] = number + 1
    return answer


@router.get("/categories", name="categories")
def list_categories(sandbox: TheSandbox, vendor: TheVendor, only_leaves: str | None = None) -> dict[str, Any]:
    """The categories of the vendor; by default only those without children."""
    leaves = bodies.truth("only_leaves", only_leaves) is not False
    with sandbox.storage.begin() as connection:
        return {"categories": listing.categories(connection, vendor, only_leaves=leaves)}


@router.post("/catalog/export", name="export")
async def export_catalog(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> Response:
    """Starts an export; what it holds is the assortment at the moment the job runs (interface.md 4.4)."""
    job = export.take(sandbox, vendor, address_of(sandbox, request))
    return await answers.accepted(sandbox, job, request, status=sandbox.behaviour.export_status)


def _words(values: list[str] | None) -> tuple[str, ...]:
    """A list as repeated parameters or separated by commas."""
    return tuple(word for value in values or () for word in value.split(",") if word)


def _locale(value: str | None) -> str | None:
    if value is not None and LOCALE.fullmatch(value) is None:
        raise invalid("locale", "must have the form xx_YY")
    return value
