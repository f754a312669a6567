"""One SKU explained."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from shelfsync.errors import DataError
from shelfsync.explain.explain import explain
from shelfsync.explain.explanation import asked_instant
from shelfsync.pages.shell import Page, Text, context, show

EXPLAIN = Page(
    "/explain", "Explain", ("catalog_full_sync", "catalog_delta_sync", "assortment_export", "promotions_sync")
)


@EXPLAIN.router.get("/explain")
def explained(request: Request, vendor: Text = "", sku: Text = "", at: Text = "") -> HTMLResponse:
    """The same as `shelfsync explain`; without vendor and SKU only the form that asks for them."""
    explanation, problem = None, None
    zone = context(request).settings.time_zone
    if vendor and sku:
        try:
            explanation = explain(context(request), vendor, sku, at=asked_instant(at, zone) if at else None)
        except (DataError, ValueError) as error:
            problem = str(error)
    asked = {"vendor": vendor, "sku": sku, "at": at}
    values: dict[str, Any] = {"asked": asked, "explanation": explanation, "problem": problem, "zone": zone}
    return show(request, "explain.html", title="Explain", **values)
