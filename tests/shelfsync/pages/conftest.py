"""The pages over a real context, without Airflow: the test's own guard sets the user."""

from __future__ import annotations

import functools
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from fastapi.testclient import TestClient

from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from app_calls import Calls

_behind: ContextVar[tuple[Calls, Viewer]] = ContextVar("behind")


@functools.cache
def _pages() -> FastAPI:
    """All pages once a process, because their routes cost more than most requests: each request brings what it is answered from."""

    def guard(request: Request) -> None:
        request.state.viewer = _behind.get()[1]

    return create_app(lambda: _behind.get()[0].context, guard, start_run=lambda *_: None)


@pytest.fixture
def browse() -> Callable[..., TestClient]:
    """`browse(app, may_decide=True)`: a client in front of the pages over a context, mounted as deep as Airflow mounts them."""

    def made(app: Calls, *, may_decide: bool = True, may_stop: bool = True) -> TestClient:
        behind = app, Viewer("ada", may_decide=may_decide, may_stop=may_stop, may_start=may_decide)

        async def pages(scope: Scope, receive: Receive, send: Send) -> None:
            _behind.set(behind)
            await _pages()(scope, receive, send)

        return TestClient(pages, root_path="/shelfsync/pages", headers={"sec-fetch-site": "same-origin"})

    return made
