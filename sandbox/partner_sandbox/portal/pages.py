"""Pages from templates, each in its frame; and the check of access. Everything that is put into a page is escaped, nothing in one is a script."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit

import jinja2
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from markupsafe import Markup

from partner_sandbox import bodies, money
from partner_sandbox.clock import iso
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.portal import views
from partner_sandbox.sandbox import Sandbox, TheSandbox

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
        "decimal": money.text,
        "moment": _moment,
        "minute": _minute,
        "pretty": _pretty,
        "segment": functools.partial(quote, safe=""),
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
    return NONE if price_milli is None else money.text(price_milli).removesuffix("0")


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


def _query(**values: Any) -> str:
    """A query string of what is there."""
    return urlencode({name: value for name, value in values.items() if value not in {None, ""}})


FOLLOW_S = 3
PAGE_ROWS = 50


@dataclass(frozen=True)
class Frame:
    """One request for a page."""

    sandbox: Sandbox
    chain: str
    chains: tuple[str, ...]
    path: str
    follow: bool
    now_us: int

    def page(self, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """The page with its frame."""
        frame = {
            "chain": self.chain,
            "chains": self.chains,
            "now_us": self.now_us,
            "virtual": self.sandbox.clock.virtual,
            "dialect": self.sandbox.behaviour.dialect,
            "follow": self.follow,
            "follow_s": FOLLOW_S,
            "path": self.path,
            "portal": "/portal",
        }
        return render(name, status=status, **frame, **values)


class PageRoute(APIRoute):
    """An error as a page with a link back, as a person cannot use JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await answer(request)
            except ApiError as error:
                return render("error.html", status=error.status, message=error.message, back=_came_from(request))

        return handle


def _came_from(request: Request) -> str:
    """The page of the portal that led here, or the first one."""
    came = urlsplit(request.headers.get("referer", ""))
    inside = came.netloc == request.headers.get("host", "") and came.path.startswith("/portal")
    if not inside or (request.method == "GET" and came.path == request.url.path):
        return "/portal"
    return f"{came.path}?{came.query}" if came.query else came.path


def frame(request: Request, sandbox: TheSandbox, chain: str = "", follow: str = "") -> Frame:
    """The requested chain, or the first one."""
    with sandbox.storage.begin() as connection:
        names = tuple(views.chains(connection))
    if chain and chain not in names:
        raise not_found("Chain")
    return Frame(
        sandbox=sandbox,
        chain=chain or (names[0] if names else ""),
        chains=names,
        path=request.url.path,
        follow=follow == "1",
        now_us=sandbox.clock.now_us(),
    )


TheFrame = Annotated[Frame, Depends(frame)]


def from_this_site(request: Request) -> None:
    """403 for a form that another site sends: the portal has no login that distinguishes them."""
    origin = request.headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise ApiError(403, "FORBIDDEN", "This form was sent by another site")


@dataclass
class Pager:
    """The place of a page in its list, whose length is known later."""

    page: int
    size: int = PAGE_ROWS
    total: int = 0

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))


def pager(page: str | None = None) -> Pager:
    """The requested page."""
    return Pager(bodies.whole("page", page, 1, most=1_000_000))


ThePager = Annotated[Pager, Depends(pager)]
