"""The state of every vendor, and the last runs."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from shelfsync import outages
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps.status import status
from shelfsync.pages.shell import Page, context, show

VENDORS = Page(
    "/",
    "Vendors",
    ("catalog_full_sync", "catalog_delta_sync", "catalog_recover", "catalog_urgent_sync", "housekeeping"),
)

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
