"""One SKU explained."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from shelfsync.errors import DataError
from shelfsync.explain.curves import curves
from shelfsync.explain.explain import explain
from shelfsync.explain.explanation import asked_instant
from shelfsync.pages.charts import Steps
from shelfsync.pages.shell import Page, Text, context, sentence, show

EXPLAIN = Page(
    "/explain", "Explain", ("catalog_full_sync", "catalog_delta_sync", "assortment_export", "promotions_sync")
)

_STEPS = {
    "diff": "read",
    "deliver": "sent",
    "confirm": "answered",
    "observe": "shown",
    "reconcile": "compared",
}
"""The steps of a run as a buyer names them; a step of another name is a word already."""


@EXPLAIN.router.get("/explain")
def explained(request: Request, vendor: Text = "", sku: Text = "", at: Text = "") -> HTMLResponse:
    """The same as `shelfsync explain`; without vendor and SKU only the form that asks for them."""
    explanation, problem, chart = None, None, None
    zone = context(request).settings.time_zone
    if vendor and sku:
        try:
            explanation = explain(context(request), vendor, sku, at=asked_instant(at, zone) if at else None)
        except (DataError, ValueError) as error:
            problem = sentence(error)
        else:
            found = curves(context(request), explanation)
            chart = Steps("Price and availability", tuple(found), explanation.at) if found else None
    asked = {"vendor": vendor, "sku": sku, "at": at}
    values: dict[str, Any] = {
        "asked": asked,
        "explanation": explanation,
        "problem": problem,
        "zone": zone,
        "chart": chart,
        "steps_in_words": _STEPS,
    }
    return show(request, "explain.html", title="Explain", of_store=vendor or None, **values)
