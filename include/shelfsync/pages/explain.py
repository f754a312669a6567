"""One SKU at one vendor: why the platform shows it as it does, and everything that happened to it."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from shelfsync.errors import DataError
from shelfsync.explain.explain import explain
from shelfsync.pages.shell import context, show

router = APIRouter()
MENU = ("/explain", "Explain")
DAGS = ("catalog_full_sync", "catalog_delta_sync", "assortment_export", "promotions_sync")

Text = Annotated[str, Query(max_length=255)]


@router.get("/explain")
def explained(request: Request, vendor: Text = "", sku: Text = "", at: Text = "") -> HTMLResponse:
    """The same as `shelfsync explain`; without vendor and SKU only the form that asks for them."""
    explanation, problem = None, None
    if vendor and sku:
        try:
            explanation = explain(context(request), vendor, sku, at=_instant(at))
        except (DataError, ValueError) as error:
            problem = str(error)
    asked = {"vendor": vendor, "sku": sku, "at": at}
    return show(request, "explain.html", title="Explain", asked=asked, explanation=explanation, problem=problem)


def _instant(text: str) -> dt.datetime | None:
    """The instant that the form sends, or an ISO instant; UTC where it has no offset."""
    if not text:
        return None
    try:
        read = dt.datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
    except (ValueError, OverflowError):  # before the year 1, seen from Greenwich
        raise ValueError(f"{text!r} is no instant; write 2026-03-01T10:42 (UTC)") from None
