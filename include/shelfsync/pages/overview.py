"""The state of every vendor and the last runs, one SKU explained, the orders of today, and the kill switch with the forms for a change."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND

from shelfsync import outages
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps import pause_or_forget_vendor
from shelfsync.catalog.steps.status import status
from shelfsync.errors import DataError, ShelfsyncError
from shelfsync.explain.explain import explain
from shelfsync.explain.explanation import asked_instant
from shelfsync.orders.steps import lists
from shelfsync.pages.shell import Form, Page, Stopper, Text, context, lead_to, show

VENDORS = Page(
    "/",
    "Vendors",
    ("catalog_full_sync", "catalog_delta_sync", "catalog_recover", "catalog_urgent_sync", "housekeeping"),
)
EXPLAIN = Page(
    "/explain", "Explain", ("catalog_full_sync", "catalog_delta_sync", "assortment_export", "promotions_sync")
)
ORDERS = Page("/orders", "Orders", ("orders_fulfilment", "orders_history"))
SWITCHES = Page("/switches", "Pause")

_UNFINISHED = frozenset({VendorState.OPEN, VendorState.BUSY, VendorState.SUPERSEDED})
"""States of a vendor in its last run that a later step or run ends by itself."""


@VENDORS.router.get("/")
def vendors(request: Request) -> HTMLResponse:
    """The same as `shelfsync status`."""
    found = status(context(request))
    rows = [{**row, **_appearance(row)} for row in found["vendors"]]
    return show(
        request,
        "status.html",
        title="Vendors",
        vendors=rows,
        outages=outages.lines(found["outages"]),
        **{
            name: found[name]
            for name in ("alarms", "absent", "paused", "restorations", "freshness", "forecast", "requests", "runs")
        },
    )


def _appearance(row: dict[str, Any]) -> dict[str, str]:
    """`tone` (its colour) and `words` of a vendor's row. Work in progress is no error, unless its requests fail repeatedly."""
    state = row["last_state"] or ""
    if state not in _UNFINISHED:
        return {"tone": "bad" if row["error"] else "", "words": state}
    if row["consecutive_failures"] and row["error"]:
        return {"tone": "bad", "words": state}
    if not row["at_work"]:
        return {
            "tone": "",
            "words": "waits for the next run"
            if row["last_state"] != VendorState.OPEN
            else "not finished, and no run is at work with it",
        }
    return {"tone": "", "words": "first sync in progress" if row["acknowledged_at"] is None else "in progress"}


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


@ORDERS.router.get("/orders")
def today(request: Request) -> HTMLResponse:
    """Orders of today and open orders, alarms, and how far each store's history was read. No order page shows personal data."""
    return show(request, "orders.html", title="Orders", **lists.today(context(request)))


@ORDERS.router.get("/orders/{order_id}")
def order(request: Request, order_id: str) -> HTMLResponse:
    """One order."""
    found = lists.order(context(request), order_id)
    if found is None:
        raise HTTPException(HTTP_404_NOT_FOUND, "shelfsync knows no such order.")
    return show(request, "order.html", title=f"Order {found['order_code'] or found['order_id']}", order=found)


@SWITCHES.router.get("/switches")
def switches(request: Request) -> HTMLResponse:
    """What is paused now, the last changes, and two forms."""
    found = pause_or_forget_vendor.switch_history(context(request))
    return show(request, "switches.html", title="Pause", **found)


@SWITCHES.router.post("/switches/{turn}")
def turn(request: Request, turn: str, person: Stopper, form: Form) -> RedirectResponse:
    """Pauses or resumes what the form names."""
    scope, vendor = form.get("scope", ""), form.get("vendor", "").strip() or None
    reason = form.get("reason", "").strip()
    if (
        turn not in {"pause", "resume"}
        or scope not in {"all", "chain", "vendor"}
        or (scope == "vendor") != (vendor is not None)
    ):
        raise HTTPException(HTTP_400_BAD_REQUEST, "name what to change: one vendor by its id, the chain, or everything")
    if turn == "pause" and not reason:
        raise HTTPException(HTTP_400_BAD_REQUEST, "give a reason; the pages show it while nothing is sent")
    try:
        if turn == "pause":
            pause_or_forget_vendor.pause(context(request), scope, vendor, why=reason, who=person.name)
        else:
            pause_or_forget_vendor.resume(context(request), scope, vendor, why=reason or "resumed", who=person.name)
    except ShelfsyncError as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, str(error)) from None
    return lead_to(request, "/switches")
