"""Rejections and quarantine: what a buyer works through, by reason, store and SKU, on a page and as a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_409_CONFLICT

from shelfsync.alerts.message import pages_at
from shelfsync.catalog.assortment.product_categories import categories, skus_of_category
from shelfsync.catalog.steps import rejection_file
from shelfsync.catalog.steps.rejected_skus import release
from shelfsync.catalog.warehouse.rows_by_reason import QUARANTINED, REJECTED, groups
from shelfsync.errors import DataError
from shelfsync.pages.form import Form
from shelfsync.pages.letter import Letter, about_rejections
from shelfsync.pages.lists import Field, asked_of, category_field, list_file, list_values
from shelfsync.pages.rights import Decider
from shelfsync.pages.rows_file import csv_file, workbook_file
from shelfsync.pages.shell import Page, context, lead_to, sentence, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context
    from shelfsync.pages.lists import Asked
    from shelfsync.store.keyset_list import KeysetList

REJECTIONS = Page("/rejections", "Rejections", ("catalog_full_sync", "catalog_delta_sync"))
QUARANTINE = Page("/quarantine", "Quarantine", ("catalog_full_sync", "catalog_delta_sync"))

REASONS = 50
"""On a page; a platform that writes the SKU into its message has as many as SKUs."""
_FIELDS: tuple[Field, ...] = (Field("vendor", "store"), Field("sku", "SKU begins with"))


@REJECTIONS.router.get("/rejections")
def rejections(request: Request) -> HTMLResponse:
    """What `shelfsync rejections list` has; a person with the right to decide may release a SKU."""
    return _show(request, REJECTIONS, REJECTED)


@QUARANTINE.router.get("/quarantine")
def quarantine(request: Request) -> HTMLResponse:
    """What `shelfsync quarantine` has."""
    return _show(request, QUARANTINE, QUARANTINED)


@REJECTIONS.router.get("/rejections.csv")
def rejections_file(request: Request) -> StreamingResponse:
    """All rows that the page has with this filter, under the ERP's names of columns: `shelfsync rejections list --csv`."""
    return csv_file(*_rejected(request), "rejections.csv")


@REJECTIONS.router.get("/rejections.xlsx")
def rejections_workbook(request: Request) -> StreamingResponse:
    """The same as a workbook."""
    return workbook_file(*_rejected(request), "rejections.xlsx")


@QUARANTINE.router.get("/quarantine.csv")
def quarantine_file(request: Request) -> StreamingResponse:
    """All rows that the page has with this filter."""
    return list_file(request, QUARANTINED, "quarantine.csv")


@REJECTIONS.router.post("/rejections/release")
def release_one(request: Request, form: Form, _: Decider) -> RedirectResponse:
    """The next run sends the SKU of this row once more. 409: it is not rejected any more."""
    row = dict(parse_qsl(form.get("row", "")))
    try:
        release(context(request), row.get("vendor", ""), [row.get("sku", "")])
    except DataError as error:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was changed: {sentence(error)}") from None
    back = {name: form[f"asked_{name}"] for name in ("vendor", "reason", "sku", "category") if f"asked_{name}" in form}
    return lead_to(request, "/rejections" + (f"?{urlencode(back)}" if back else ""))


def _rejected(request: Request) -> tuple[list[str], Iterator[list[list[Any]]]]:
    asked, app = asked_of(request, REJECTED), context(request)
    rows = rejection_file.pages(app, asked.filters | _of_category(app, asked), order=asked.order)
    return rejection_file.names(app), rows


def _of_category(app: Context, asked: Asked) -> dict[str, str]:
    """The SKUs of the category that is asked for, as the list wants them. 400: it is asked for without a store."""
    category, vendor = asked.filters.get("category"), asked.filters.get("vendor")
    if not category:
        return {}
    if not vendor:
        raise HTTPException(HTTP_400_BAD_REQUEST, "A category is one of a store. Name the store, too.")
    return {"category": json.dumps(skus_of_category(app, vendor, category))}


def _show(request: Request, on: Page, of: KeysetList) -> HTMLResponse:
    app, asked, fields = context(request), asked_of(request, of), _FIELDS
    instead = _of_category(app, asked)
    if of is REJECTED and (vendor := asked.filters.get("vendor")):
        fields = (*_FIELDS, category_field(categories(app, vendor), asked.filters.get("category", "")))
    values = list_values(request, of, on.path, fields, instead=instead)
    if of is QUARANTINED:
        values["rows"] = [row | {"raw": _stated(row["raw"])} for row in values["rows"]]
    with app.engine.connect() as connection:
        reasons = groups(connection, of, asked.filters | instead, most=REASONS + 1)
    return show(
        request,
        "rows_by_reason.html",
        title=on.title,
        reasons=[{**one, "query": asked.with_(reason=one["reason"])} for one in reasons[:REASONS]],
        more_reasons=len(reasons) > REASONS,
        rejected=of is REJECTED,
        letter=_letter(request, asked, reasons, values["rows"]) if of is REJECTED else None,
        **values,
    )


def _letter(request: Request, asked: Asked, reasons: list[dict[str, Any]], rows: list[dict[str, Any]]) -> Letter | None:
    """To the account manager, about the reason that is asked for; None: there is none, or no address is set."""
    settings = context(request).settings
    to, link = settings.rejection.account_manager, settings.alerts.link
    chosen = [one for one in reasons if one["reason"] == asked.filters.get("reason")]
    if to is None or not chosen or not rows:
        return None
    start = str(request.base_url).rstrip("/") if link is None else pages_at(link, settings.chain)
    page = f"{start}{REJECTIONS.path}?{asked.query}"
    return about_rejections(
        to,
        reason=chosen[0]["reason"],
        products=chosen[0]["rows"],
        stores=chosen[0]["stores"],
        rows=rows,
        page=page,
    )


def _stated(raw: str | None) -> str:
    """What the ERP's row states, column by column; a text that is no such row as it is."""
    try:
        row = json.loads(raw or "{}")
        return ", ".join(f"{name} {value}" for name, value in row.items() if name != "row_number" and value is not None)
    except (ValueError, AttributeError):
        return raw or ""
