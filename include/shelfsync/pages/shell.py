"""The frame around every page: one layout, one style sheet, no script, nothing from another host."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_303_SEE_OTHER, HTTP_400_BAD_REQUEST

from shelfsync.catalog.steps.pause import paused
from shelfsync.terminal import age

if TYPE_CHECKING:
    from fastapi import Request

    from shelfsync.context import Context

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'self'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}
"""A page shows texts of the ERP and of the platform. If one of them is ever rendered as markup, these headers keep it harmless."""


def show(request: Request, template: str, *, title: str, status_code: int = 200, **values: Any) -> HTMLResponse:
    """A page from `templates/`; `root` in it is the path below which a proxy or Airflow has mounted the pages."""
    html = _environment().get_template(template)
    if status_code < HTTP_400_BAD_REQUEST:  # an error page must not need the ledger
        values.setdefault("paused", paused(context(request)))
    text = html.render(
        title=title,
        root=_root(request),
        viewer=getattr(request.state, "viewer", None),
        feeds=getattr(request.state, "feeds", ()),
        menu=request.app.state.menu,
        here=request.scope.get("path", ""),
        **values,
    )
    return HTMLResponse(text, status_code=status_code)


def lead_to(request: Request, path: str) -> RedirectResponse:
    """Leads to a page after a form was accepted, so that a reload does not send the form again."""
    return RedirectResponse(_root(request) + path, HTTP_303_SEE_OTHER)


def _root(request: Request) -> str:
    root: str = request.scope.get("root_path", "")
    return root.rstrip("/")


def context(request: Request) -> Context:
    """The context whose state the pages show."""
    opened: Context = request.app.state.opened()
    return opened


def shown(value: object) -> str:
    """A value as a person reads it: thousands apart, instants in UTC to the second, nothing for null.

    A value whose formatting raises an error becomes the text "cannot be shown"; the rest of the page is complete.
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
