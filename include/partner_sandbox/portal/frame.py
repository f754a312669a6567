"""The frame of every page: its chain, the clock, the dialect; and the check of access."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute

from partner_sandbox.access.callers import TheSandbox
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.portal import pages, views
from partner_sandbox.sandbox import Sandbox

FOLLOW_S = 3


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
        return pages.render(name, status=status, **frame, **values)


class PageRoute(APIRoute):
    """An error as a page with a link back, as a person cannot use JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await answer(request)
            except ApiError as error:
                return pages.render("error.html", status=error.status, message=error.message, back=_came_from(request))

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


@dataclass(frozen=True)
class Pager:
    """The place of a page in its list."""

    page: int
    size: int
    total: int

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))
