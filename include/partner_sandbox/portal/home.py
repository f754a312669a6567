"""The front page, for people who know only the address."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from partner_sandbox import contract, control, guide
from partner_sandbox.jobs.jobs import address_of
from partner_sandbox.portal import pages, reference
from partner_sandbox.sandbox import TheSandbox
from partner_sandbox.vendors import CHAIN, CLIENT_ID, CLIENT_SECRET, VENDORS

router = APIRouter()
steered = APIRouter(prefix="/_sandbox", dependencies=[Depends(control.on_this_machine)])


@router.get("/portal/style.css")
def style() -> Response:
    """The style sheet of every page; these pages answer every caller."""
    return Response(pages.style(), media_type="text/css; charset=utf-8", headers={"X-Content-Type-Options": "nosniff"})


@router.get("/")
def front(request: Request, sandbox: TheSandbox) -> HTMLResponse:
    """What this is, the credentials of its start, and what to do first."""
    base_url = address_of(sandbox, request)
    return pages.render(
        "home.html",
        base_url=base_url,
        chain=CHAIN,
        vendors=VENDORS,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        dialect=sandbox.behaviour.dialect,
        propagation_s=sandbox.behaviour.propagation_s,
        steps=(*guide.first_steps(base_url), guide.webhook_step(base_url)),
        facts=guide.FACTS,
    )


@router.get("/openapi.json")
def interface_contract(request: Request, sandbox: TheSandbox) -> JSONResponse:
    """The contract of the interface."""
    return JSONResponse(contract.interface(address_of(sandbox, request)))


@router.get("/reference")
def interface_reference(request: Request, sandbox: TheSandbox) -> HTMLResponse:
    """The same for people."""
    document = contract.interface(address_of(sandbox, request))
    return reference.page(document, of="the interface", beside="/openapi.json")


@steered.get("/openapi.json")
def control_contract(request: Request, sandbox: TheSandbox) -> JSONResponse:
    """The contract of the control plane."""
    return JSONResponse(contract.control(control.router.routes, address_of(sandbox, request)))


@steered.get("/reference")
def control_reference(request: Request, sandbox: TheSandbox) -> HTMLResponse:
    """The same for people."""
    document = contract.control(control.router.routes, address_of(sandbox, request))
    return reference.page(document, of="the control plane", beside="/_sandbox/openapi.json")


router.include_router(steered)
