"""The state of every vendor, and the last runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from shelfsync.pages.shell import context, show
from shelfsync.status import status

router = APIRouter()
MENU = ("/", "Vendors")
DAGS = ("catalog_full_sync", "catalog_delta_sync", "catalog_recover", "catalog_urgent_sync", "housekeeping")

_IN_PROGRESS = frozenset({"open", "planned", "busy", "superseded"})
"""States of a vendor in its newest run that a later step or run ends by itself."""


@router.get("/")
def vendors(request: Request) -> HTMLResponse:
    """The same as `shelfsync status`."""
    found = status(context(request))
    rows = [{**row, **_appearance(row)} for row in found["vendors"]]
    return show(
        request,
        "status.html",
        title="Vendors",
        vendors=rows,
        **{
            name: found[name]
            for name in ("alarms", "paused", "restorations", "freshness", "forecast", "requests", "runs")
        },
    )


def _appearance(row: dict[str, Any]) -> dict[str, str]:
    """`tone` (its colour) and `words` of a vendor's row. Work in progress is no error, unless its requests fail repeatedly."""
    state = row["last_state"] or ""
    if state not in _IN_PROGRESS:
        return {"tone": "bad" if row["error"] else "", "words": state}
    if row["consecutive_failures"] and row["error"]:
        return {"tone": "bad", "words": state}
    return {"tone": "", "words": "first sync in progress" if row["acknowledged_at"] is None else "in progress"}
