"""One store: how it is, its day in order, and what a person can do about it."""

from __future__ import annotations

import datetime as dt
from typing import Any
from urllib.parse import urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.steps import restore
from shelfsync.catalog.steps.overview import of_store
from shelfsync.catalog.steps.store_day import Happening, store_day
from shelfsync.catalog.warehouse.drift import OF_OBSERVATION
from shelfsync.errors import DataError
from shelfsync.pages.dag_switched_off import Feed
from shelfsync.pages.form import Form
from shelfsync.pages.lists import list_file
from shelfsync.pages.rights import Decider, Starter, viewer
from shelfsync.pages.shell import Number, Page, Text, context, lead_to, sentence, show

STORE = Page("/store", "Store", ("catalog_full_sync", "catalog_delta_sync", "catalog_recover", "assortment_export"))

SYNC = "catalog_delta_sync"
"""The DAG that reads a store and sends what has changed."""
NAMES = 500
"""Stores that the field suggests."""


@STORE.router.get("/store")
def store(request: Request, vendor: Text = "", day: Text = "", started: Text = "") -> HTMLResponse:
    """The store's row of the first page, and its day. Without a store only the form that asks for one."""
    app = context(request)
    found, problem, row = None, None, None
    if vendor:
        try:
            found = store_day(app, vendor, dt.date.fromisoformat(day) if day else None)
        except DataError as error:
            problem = sentence(error)
        except (ValueError, OverflowError):
            problem = f"{day!r} is no day of a calendar; write it as 2026-03-01"
        else:
            row = of_store(app, vendor)
    with app.engine.connect() as connection:
        names = vendors.names(connection)[:NAMES]
    return show(
        request,
        "store.html",
        title=f"Store {vendor}" if found else "Store",
        of_store=vendor or None,
        asked={"vendor": vendor, "day": day or (str(found["day"]) if found else "")},
        names=names,
        problem=problem,
        row=row,
        day=found,
        events=[(one, _linked(one, vendor)) for one in found["events"]] if found else [],
        days=_around(found["day"], is_over=found["is_over"]) if found else (),
        started=bool(started),
        may_start=request.app.state.start_run is not None and viewer(request).may_start,
    )


@STORE.router.post("/store/sync")
def sync_now(request: Request, form: Form, person: Starter) -> RedirectResponse:
    """Airflow starts a delta run of this store alone. 409: the DAG does not run, or these pages are not in Airflow."""
    vendor, start_run, dag_states = form.get("vendor", ""), request.app.state.start_run, request.app.state.dag_states
    if of_store(context(request), vendor) is None:
        raise HTTPException(HTTP_404_NOT_FOUND, f"shelfsync knows no store {vendor!r}. The first page lists them.")
    if start_run is None:
        raise HTTPException(
            HTTP_409_CONFLICT,
            f"Nothing was started: only the pages in Airflow can start a run. The command is `shelfsync sync --vendor {vendor}`.",
        )
    chain = request.app.state.chain
    if dag_states is not None and (note := Feed(SYNC, dag_states([SYNC]).get(SYNC), chain).note):
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was started: {note}")
    start_run(SYNC, {"vendors": [vendor]}, person.name)
    return lead_to(request, f"/store?{urlencode({'vendor': vendor, 'started': 'yes'})}")


@STORE.router.post("/store/end-restoration")
def end_restoration(request: Request, form: Form, person: Decider) -> RedirectResponse:
    """The ERP's values apply again. 400: the form names no store."""
    vendor = form.get("vendor", "")
    if not vendor:
        raise HTTPException(HTTP_400_BAD_REQUEST, "name the store whose restoration ends")
    restore.end(context(request), vendor, who=person.name)
    return lead_to(request, f"/store?{urlencode({'vendor': vendor})}")


@STORE.router.get("/drift/{number}.csv")
def drift(request: Request, number: Number) -> StreamingResponse:
    """The values that differed in an observation."""
    return list_file(request, OF_OBSERVATION, f"drift-{number}.csv", observation_id=str(number))


def _linked(event: Happening, vendor: str) -> list[tuple[int, str, str]]:
    """(count, word, path) of what an event counts."""
    return [(count, word, _path(kind, number, vendor)) for count, word, kind, number in event.links]


def _path(kind: str, number: int, vendor: str) -> str:
    match kind:
        case "hold":
            return f"/holds/{number}"
        case "drift":
            return f"/drift/{number}.csv"
        case "quarantine":
            return f"/quarantine?{urlencode({'vendor': vendor})}"
        case _:
            return f"/runs/{number}/rows.csv?{urlencode({'stage': kind, 'vendor': vendor})}"


def _around(day: dt.date, *, is_over: bool) -> list[dict[str, Any]]:
    """The day before, and the day after if the day is over."""
    found = []
    for word, days in (("the day before", -1), ("the day after", 1))[: 2 if is_over else 1]:
        try:
            found.append({"word": word, "day": str(day + dt.timedelta(days=days))})
        except OverflowError:
            continue
    return found
