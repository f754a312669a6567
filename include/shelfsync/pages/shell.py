"""The frame around every page: one layout, one style sheet, no script, nothing from another host."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_303_SEE_OTHER, HTTP_400_BAD_REQUEST

from shelfsync.terminal import age

if TYPE_CHECKING:
    from fastapi import Request

    from shelfsync.wiring import House

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'self'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}
"""A page shows what came from an ERP and a platform: should a text of theirs ever slip through as markup, it can do nothing."""


def show(request: Request, template: str, *, title: str, status_code: int = 200, **told: Any) -> HTMLResponse:
    """A page from `templates/`; `root` in it is where our pages begin, however deep a proxy or Airflow has mounted them."""
    html = _environment().get_template(template)
    if status_code < HTTP_400_BAD_REQUEST:  # an error may be that there is no ledger to ask
        told.setdefault("paused", house(request).paused())
    text = html.render(
        title=title,
        root=_root(request),
        viewer=getattr(request.state, "viewer", None),
        feeds=getattr(request.state, "feeds", ()),
        menu=request.app.state.menu,
        here=request.scope.get("path", ""),
        **told,
    )
    return HTMLResponse(text, status_code=status_code)


def lead_to(request: Request, path: str) -> RedirectResponse:
    """To one of our pages, after a form was taken: going back or loading again says nothing twice."""
    return RedirectResponse(_root(request) + path, HTTP_303_SEE_OTHER)


def _root(request: Request) -> str:
    root: str = request.scope.get("root_path", "")
    return root.rstrip("/")


def house(request: Request) -> House:
    """The house whose state the pages show."""
    opened: House = request.app.state.open_house()
    return opened


def shown(value: object) -> str:
    """A value as a person reads it: thousands apart, instants in UTC to the second, nothing for null.

    One that cannot be shown, whatever it raises, is a word in its place: it hides neither its row nor the others.
    """
    try:
        return _shown(value)
    except Exception:  # noqa: BLE001
        return "cannot be shown"


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case Decimal():
            return f"{value.normalize():f}" if value % 1 else f"{value:.2f}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S %Z}"
        case _:
            return str(value)


_made: list[Environment] = []


def _environment() -> Environment:
    if not _made:
        loader = FileSystemLoader(Path(__file__).parent / "templates")
        made = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        made.filters["shown"] = shown
        made.filters["age"] = age
        _made.append(made)
    return _made[0]
