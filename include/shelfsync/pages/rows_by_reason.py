"""Rejections and quarantine: what a buyer works through, by reason, store and SKU, on a page and as a file."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, HTTPException, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.status import HTTP_409_CONFLICT

from shelfsync.catalog.assortment.product_names import with_names_of_vendors
from shelfsync.catalog.steps.rejected_skus import release
from shelfsync.catalog.warehouse.rows_by_reason import QUARANTINED, REJECTED, Asked, Kind, every_page, groups, key, page
from shelfsync.errors import DataError
from shelfsync.pages.rows_file import ROWS as ROWS_OF_FILE
from shelfsync.pages.rows_file import rows_file
from shelfsync.pages.shell import Decider, Form, Page, Text, context, lead_to, show

REJECTIONS = Page("/rejections", "Rejections", ("catalog_full_sync", "catalog_delta_sync"))
QUARANTINE = Page("/quarantine", "Quarantine", ("catalog_full_sync", "catalog_delta_sync"))

ROWS = 200
"""On a page."""
REASONS = 50
"""On a page; a platform that writes the SKU into its message has as many as SKUs."""
After = Annotated[list[str], Query(max_length=3)]


def _asked(vendor: Text = "", reason: Text = "", sku: Text = "") -> Asked:
    return Asked(vendor or None, reason or None, sku or None)


Filter = Annotated[Asked, Depends(_asked)]
"""The filter in the address."""


@REJECTIONS.router.get("/rejections")
def rejections(request: Request, asked: Filter, after: After = []) -> HTMLResponse:  # noqa: B006  read only
    """What `shelfsync rejections list` has; a person with the right to decide may release a SKU."""
    return _show(request, REJECTIONS, REJECTED, asked, after)


@QUARANTINE.router.get("/quarantine")
def quarantine(request: Request, asked: Filter, after: After = []) -> HTMLResponse:  # noqa: B006  read only
    """What `shelfsync quarantine` has."""
    return _show(request, QUARANTINE, QUARANTINED, asked, after)


@REJECTIONS.router.get("/rejections.csv")
def rejections_file(request: Request, asked: Filter) -> StreamingResponse:
    """All rows that the page has with this filter."""
    return _file(request, REJECTED, asked, "rejections.csv")


@QUARANTINE.router.get("/quarantine.csv")
def quarantine_file(request: Request, asked: Filter) -> StreamingResponse:
    """All rows that the page has with this filter."""
    return _file(request, QUARANTINED, asked, "quarantine.csv")


@REJECTIONS.router.post("/rejections/release")
def release_one(request: Request, form: Form, _: Decider) -> RedirectResponse:
    """The next run sends this SKU once more. 409: it is not rejected any more."""
    try:
        release(context(request), form.get("vendor", ""), [form.get("sku", "")])
    except DataError as error:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was changed: {error}") from None
    back = {name: form[f"asked_{name}"] for name in ("vendor", "reason", "sku") if f"asked_{name}" in form}
    return lead_to(request, "/rejections" + (f"?{urlencode(back)}" if back else ""))


def _show(request: Request, of: Page, kind: Kind, asked: Asked, after: list[str]) -> HTMLResponse:
    app = context(request)
    with app.engine.connect() as connection:
        found = page(connection, kind, asked, after=after, most=ROWS + 1)
        reasons = groups(connection, kind, asked, most=REASONS + 1)
    rows = with_names_of_vendors(app, found[:ROWS])
    given = {name: value for name, value in vars(asked).items() if value}
    more = [*given.items(), *(("after", part) for part in key(kind, rows[-1]))] if len(found) > ROWS else []
    return show(
        request,
        "rows_by_reason.html",
        title=of.title,
        path=of.path,
        asked=vars(asked),
        reasons=[{**one, "query": urlencode({**given, "reason": one["reason"]})} for one in reasons[:REASONS]],
        more_reasons=len(reasons) > REASONS,
        rows=rows,
        rejected=kind is REJECTED,
        query=urlencode(given),
        next=urlencode(more),
        begun=bool(after),
    )


def _file(request: Request, kind: Kind, asked: Asked, name: str) -> StreamingResponse:
    app = context(request)
    return rows_file(app, kind.columns, every_page(app.engine.connect, kind, asked, most=ROWS_OF_FILE), name)
