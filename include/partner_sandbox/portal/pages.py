"""Pages from templates: everything that is put into one is escaped, nothing in one is a script."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import jinja2
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from partner_sandbox.catalog import money
from partner_sandbox.clock import iso

FOLDER = Path(__file__).parent
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
NONE = "\N{EN DASH}"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'self'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


@functools.cache
def templates() -> jinja2.Environment:
    """The templates, read at their first use."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "money": _money,
        "moment": _moment,
        "minute": _minute,
        "pretty": _pretty,
        "segment": _segment,
    }
    environment.globals["query"] = _query
    return environment


@functools.cache
def style() -> str:
    """The style sheet."""
    return (FOLDER / "style.css").read_text(encoding="utf-8")


def render(name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    return HTMLResponse(templates().get_template(name).render(**values), status, HEADERS)


def _money(price_milli: int | None) -> str:
    """With two decimals, or three where the third one counts; a dash for none."""
    if price_milli is None:
        return NONE
    text = money.text(price_milli)
    return text.removesuffix("0")


def _minute(at_us: int) -> str:
    """The instant in UTC, to the minute."""
    return _moment(at_us, 16)


def _moment(at_us: int | None, end: int = 19) -> str:
    """The instant in UTC, to the second, with the whole of it in its attribute; a dash for none."""
    if at_us is None:
        return NONE
    text = iso(at_us)
    day = f"{int(text[8:10])} {MONTHS[int(text[5:7]) - 1]}"
    return Markup('<time datetime="{}" title="{}"><span class="day">{}</span> {}</time>').format(
        text, text, day, text[11:end]
    )


def _pretty(body: str) -> str:
    """JSON with a line for each field."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body


def _segment(text: str) -> str:
    """One part of a path."""
    return quote(text, safe="")


def _query(**values: Any) -> str:
    """A query string of what is there."""
    return urlencode({name: value for name, value in values.items() if value not in {None, ""}})
