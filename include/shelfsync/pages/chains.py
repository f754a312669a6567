"""The pages of several chains: those of each below its name, and before them one page that says how each is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request
from starlette.responses import HTMLResponse, RedirectResponse

from shelfsync.chain_states import state_of
from shelfsync.chains import alone_here, chain_names
from shelfsync.chosen_chain import MARK
from shelfsync.errors import ConfigurationError
from shelfsync.pages.app import add_frame
from shelfsync.pages.from_airflow import FROM_AIRFLOW
from shelfsync.pages.shell import Text, lead_to, show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.types import ASGIApp

    from shelfsync.context import Context


@dataclass(frozen=True)
class ChainPages:
    """What there is of one chain: its pages, and its context."""

    pages: ASGIApp
    opened: Callable[[], Context]


def create_chains_app(chains: Mapping[str, ChainPages], guard: Callable[..., Any]) -> FastAPI:
    """The pages of all chains as one application.

    `guard` is a FastAPI dependency that sets `request.state.chains` to those that the viewer may see, or raises 401 or 403. The pages of a
    chain have a guard of their own.
    """
    app = FastAPI(title="shelfsync pages", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.menu = []

    def how_all_are(request: Request) -> HTMLResponse:
        seen = [state_of(name, chains[name].opened) for name in _still_here(request.state.chains)]
        return show(request, "chains.html", title="Chains", chains=seen)

    def of_chain(request: Request, dag_id: Text = "") -> RedirectResponse:
        """The tabs in Airflow lead here; the page of the chain has a guard of its own."""
        name = dag_id.partition(MARK)[2] or alone_here()
        return lead_to(request, f"/{name}{FROM_AIRFLOW.path}?{request.url.query}" if name in chains else "/")

    app.add_api_route("/", how_all_are, response_class=HTMLResponse, dependencies=[Depends(guard)])
    app.add_api_route(FROM_AIRFLOW.path, of_chain)
    add_frame(app)
    for name, one in chains.items():
        app.mount(f"/{name}", one.pages)
    return app


def _still_here(names: Sequence[str]) -> list[str]:
    """Those of these chains that the settings still have; all of them while they cannot be read."""
    try:
        known = chain_names()
    except ConfigurationError:
        return list(names)
    return [name for name in names if name in known]
