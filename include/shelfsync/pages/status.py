"""Where every vendor stands, and the last runs."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from shelfsync.pages.shell import house, show

router = APIRouter()
MENU = ("/", "Vendors")


@router.get("/")
def vendors(request: Request) -> HTMLResponse:
    """The same as `shelfsync status`."""
    told = house(request).status()
    return show(
        request,
        "status.html",
        title="Vendors",
        **{name: told[name] for name in ("paused", "restorations", "vendors", "freshness", "forecast", "runs")},
    )
