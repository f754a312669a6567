"""All pages together, as one application that Airflow mounts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError as DatabaseDataError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND, HTTP_503_SERVICE_UNAVAILABLE

from shelfsync.display import during
from shelfsync.errors import DataError, ShelfsyncError
from shelfsync.pages.alerts import ALERTS
from shelfsync.pages.dag_switched_off import fed_by
from shelfsync.pages.drift import DRIFT
from shelfsync.pages.explain import EXPLAIN
from shelfsync.pages.from_airflow import FROM_AIRFLOW
from shelfsync.pages.holds import HOLDS
from shelfsync.pages.inbox import INBOX
from shelfsync.pages.orders import ORDERS
from shelfsync.pages.overview import OVERVIEW
from shelfsync.pages.pause import SWITCHES
from shelfsync.pages.products import PRODUCTS
from shelfsync.pages.promotions import PROMOTIONS
from shelfsync.pages.restore import RESTORE
from shelfsync.pages.rows_by_reason import QUARANTINE, REJECTIONS
from shelfsync.pages.runs import RUNS
from shelfsync.pages.search import SEARCH
from shelfsync.pages.shell import HEADERS, is_readable, sentence, show
from shelfsync.pages.store import STORE
from shelfsync.pages.typed_again import typed_again

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from shelfsync.context import Context
    from shelfsync.display import Display
    from shelfsync.pages.dag_switched_off import DagStates, StartRun

PAGES = (
    *(OVERVIEW, STORE, PRODUCTS, SEARCH, EXPLAIN, PROMOTIONS, ORDERS, ALERTS, HOLDS),
    *(REJECTIONS, QUARANTINE, DRIFT, RUNS, INBOX, SWITCHES, RESTORE),
)
"""In the order of the menu."""

STATIC = {"pages.css": "text/css", "pages.js": "text/javascript"}
"""The files of the folder `static`, each with its type."""


def create_app(
    opened: Callable[[], Context],
    guard: Callable[..., Any],
    dag_states: DagStates | None = None,
    *,
    start_run: StartRun | None = None,
    shown_in: Display | None = None,
    chain: str | None = None,
) -> FastAPI:
    """The pages over a context. `guard` is a FastAPI dependency that sets `request.state.viewer` or raises 401 or 403.

    `dag_states` reports which DAGs are paused; without it the pages show nothing about DAGs. `start_run` starts a run; without it the page of
    a store cannot. `shown_in`: zone and currency of the chain, where the process shows several. `chain`: whose DAGs the pages name.
    """
    app = FastAPI(title="shelfsync pages", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.opened = opened
    app.state.dag_states, app.state.start_run, app.state.chain = dag_states, start_run, chain
    app.state.menu = [(page.path, page.title) for page in PAGES if page.in_menu]
    for page in (*PAGES, FROM_AIRFLOW):
        app.include_router(page.router, dependencies=[Depends(guard), Depends(fed_by(page.dags, dag_states, chain))])
    add_frame(app, shown_in)
    return app


def add_frame(app: FastAPI, shown_in: Display | None = None) -> None:
    """What every application of pages has: style sheet and script, the headers, and a page for each error."""
    for name, media_type in STATIC.items():
        app.add_api_route(f"/{name}", _file(name, media_type))
    app.add_exception_handler(HTTPException, _denied)
    app.add_exception_handler(ShelfsyncError, _broken)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(DatabaseDataError, _unreadable)
    app.middleware("http")(_add_headers)
    if shown_in is not None:
        app.middleware("http")(partial(_show_in, shown_in))


def _file(name: str, media_type: str) -> Callable[[], FileResponse]:
    def file() -> FileResponse:
        return FileResponse(Path(__file__).parent / "static" / name, media_type=media_type)

    return file


async def _add_headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    if is_readable(request):
        response = await call_next(request)
    else:
        response = await _unreadable(request, None)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


async def _show_in(
    shown_in: Display, request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    with during(shown_in):
        return await call_next(request)


async def _denied(request: Request, error: Exception) -> HTMLResponse:
    assert isinstance(error, HTTPException)
    title = {401: "Please log in", 403: "Not allowed", 404: "Not found"}.get(error.status_code, "This did not work")
    form = getattr(request.state, "form", None) if error.status_code == HTTP_400_BAD_REQUEST else None
    again = None if form is None else typed_again(form)
    page = show(
        request, "message.html", title=title, status_code=error.status_code, message=str(error.detail), again=again
    )
    page.headers.update(error.headers or {})
    return page


async def _unreadable(request: Request, _: Exception | None) -> HTMLResponse:
    """An address or a field with text that no identifier has."""
    message = "This address or this field holds characters that no identifier has."
    return show(request, "message.html", title="Not found", status_code=HTTP_400_BAD_REQUEST, message=message)


async def _broken(request: Request, error: Exception) -> HTMLResponse:
    """404 for data that does not exist or cannot be used; 503 for any other error of shelfsync."""
    if isinstance(error, DataError):
        status_code, message = HTTP_404_NOT_FOUND, sentence(error)
    else:
        status_code, message = HTTP_503_SERVICE_UNAVAILABLE, str(error)
    return show(request, "message.html", title="This did not work", status_code=status_code, message=message)
