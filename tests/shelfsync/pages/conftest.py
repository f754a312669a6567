"""The pages over a real house, without Airflow: a guard of the test's own says who looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from fastapi.testclient import TestClient

from shelfsync.pages.app import create_app
from shelfsync.pages.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.wiring import House


@pytest.fixture
def browse() -> Callable[..., TestClient]:
    """`browse(house, may_decide=True)`: a client in front of the pages of a house, mounted as deep as Airflow mounts them."""

    def made(house: House, *, may_decide: bool = True, may_stop: bool = True) -> TestClient:
        def guard(request: Request) -> None:
            request.state.viewer = Viewer("ada", may_decide=may_decide, may_stop=may_stop)

        app = create_app(lambda: house, guard)
        return TestClient(app, root_path="/shelfsync/pages", headers={"sec-fetch-site": "same-origin"})

    return made
