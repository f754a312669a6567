"""Where every vendor stands, and the last runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from shelfsync.pages.shell import house, show

router = APIRouter()
MENU = ("/", "Vendors")
DAGS = ("catalog_full_sync", "catalog_delta_sync", "catalog_settle", "catalog_urgent_sync", "housekeeping")

_UNDER_WAY = frozenset({"open", "planned", "busy", "superseded"})
"""States of a vendor in its newest run that a later step or run ends by itself."""


@router.get("/")
def vendors(request: Request) -> HTMLResponse:
    """The same as `shelfsync status`."""
    told = house(request).status()
    rows = [{**row, **_look(row)} for row in told["vendors"]]
    return show(
        request,
        "status.html",
        title="Vendors",
        vendors=rows,
        **{name: told[name] for name in ("alarms", "paused", "restorations", "freshness", "forecast", "runs")},
    )


def _look(row: dict[str, Any]) -> dict[str, str]:
    """`tone` (its colour) and `words` of a vendor's row: work under way is no trouble, unless its requests fail in a row."""
    state = row["last_state"] or ""
    if state not in _UNDER_WAY:
        return {"tone": "bad" if row["error"] else "", "words": state}
    if row["failures_in_a_row"] and row["error"]:
        return {"tone": "bad", "words": state}
    return {"tone": "", "words": "first sync on its way" if row["acknowledged_at"] is None else "on its way"}
