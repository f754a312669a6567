"""One SKU at one vendor: why the platform shows it as it does, and everything that happened to it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from shelfsync.errors import DataError
from shelfsync.explain.explain import explain
from shelfsync.explain.explanation import asked_instant
from shelfsync.pages.shell import context, show
from shelfsync.pages.viewer import Text

router = APIRouter()
MENU = ("/explain", "Explain")
DAGS = ("catalog_full_sync", "catalog_delta_sync", "assortment_export", "promotions_sync")


@router.get("/explain")
def explained(request: Request, vendor: Text = "", sku: Text = "", at: Text = "") -> HTMLResponse:
    """The same as `shelfsync explain`; without vendor and SKU only the form that asks for them."""
    explanation, problem = None, None
    if vendor and sku:
        try:
            explanation = explain(context(request), vendor, sku, at=asked_instant(at) if at else None)
        except (DataError, ValueError) as error:
            problem = str(error)
    asked = {"vendor": vendor, "sku": sku, "at": at}
    return show(request, "explain.html", title="Explain", asked=asked, explanation=explanation, problem=problem)
