"""The pages over a real context, without Airflow: the test's own guard sets the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from fastapi.testclient import TestClient

from shelfsync.pages.app import create_app
from shelfsync.pages.shell import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable

    from app_calls import Calls


@pytest.fixture
def browse() -> Callable[..., TestClient]:
    """`browse(app, may_decide=True)`: a client in front of the pages over a context, mounted as deep as Airflow mounts them."""

    def made(app: Calls, *, may_decide: bool = True, may_stop: bool = True) -> TestClient:
        def guard(request: Request) -> None:
            request.state.viewer = Viewer("ada", may_decide=may_decide, may_stop=may_stop)

        pages = create_app(lambda: app.context, guard)
        return TestClient(pages, root_path="/shelfsync/pages", headers={"sec-fetch-site": "same-origin"})

    return made
