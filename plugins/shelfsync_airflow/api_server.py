"""What shelfsync adds to Airflow's API server: its pages, the webhook receiver, and what the test of a connection needs.

Every process of Airflow imports this file, and it must cost nothing there: an app is created at its first call.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from shelfsync.chosen_chain import of_chain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from fastapi import FastAPI

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Application = Callable[[Scope, Receive, Callable[[Message], Awaitable[None]]], Awaitable[None]]

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 30.0
RECEIVER_PREFIX = "/shelfsync"
PAGES_PREFIX = "/shelfsync/pages"
DAG_ID = "catalog_full_sync"
"""The right to see this DAG is the right to look; the right to edit it is the right to decide."""

VIEW = {
    "name": "shelfsync",
    "href": f"{PAGES_PREFIX.lstrip('/')}/",
    "destination": "nav",
    "url_route": "shelfsync",
    "nav_top_level": True,
}
OF_DAG = {
    "name": "shelfsync",
    "href": f"{PAGES_PREFIX.lstrip('/')}/from-airflow?dag_id={{DAG_ID}}",
    "destination": "dag",
    "url_route": "shelfsync-dag",
}
OF_RUN = {
    **OF_DAG,
    "href": f"{OF_DAG['href']}&run_id={{RUN_ID}}",
    "destination": "dag_run",
    "url_route": "shelfsync-run",
}
"""Tabs of each DAG and each run; Airflow puts the names in."""
TEST_PATH = "/api/v2/connections/test"
NO_RECEIVER = {"status": "rejected", "reason": "the receiver is not configured"}
NO_PAGES = {"status": "rejected", "reason": "the pages cannot be opened; the API server's log has the reason"}
BODY_BYTES_MAX = 256 * 1024
"""A larger body is passed on as it is."""


class MountedApp:
    """`make` opens the app, in a thread; `loss` is the log line about what is missing while it cannot be created.

    While the settings are wrong every call is answered 503, and the settings are read again every half minute.
    """

    def __init__(self, make: Callable[[], Application], *, loss: str, answer: dict[str, str]) -> None:
        self._make = make
        self._loss = loss
        self._answer = json.dumps(answer).encode()
        self._broken_until_s = 0.0
        self._making = asyncio.Lock()
        self.app: Application | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        """One request; websockets are not supported."""
        if scope["type"] != "http":
            return
        app = self.app or await self._made()
        if app is None:
            await self._answer_not_now(send)
        else:
            await app(scope, receive, send)

    async def _made(self) -> Application | None:
        from shelfsync.errors import ShelfsyncError

        async with self._making:
            if self.app is None and time.monotonic() >= self._broken_until_s:
                try:
                    self.app = await asyncio.to_thread(self._make)
                except ShelfsyncError as error:
                    self._broken_until_s = time.monotonic() + LOOK_AGAIN_S
                    log.error("%s: %s", self._loss, error)  # noqa: TRY400  one line is the whole message
            return self.app

    async def _answer_not_now(self, send: Callable[[Any], Awaitable[None]]) -> None:
        headers = [(b"content-type", b"application/json"), (b"retry-after", b"60"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": self._answer})


def mounted_receiver() -> MountedApp:
    """The webhook receiver, for an installation on one machine.

    The API server also serves the workers, so a platform on the public internet should call the receiver that runs by itself.
    """
    return MountedApp(_receiver, loss="inbox: no event can be received", answer=NO_RECEIVER)


def _receiver() -> Application:
    """The receiver, or that of each chain below its name: /shelfsync/north/webhook."""
    from shelfsync.receiver.server import receiver_app
    from shelfsync_airflow.app import WEBHOOK, app_settings
    from shelfsync_airflow.chains import chains_here

    def of(chain: str | None) -> FastAPI:
        return receiver_app(app_settings(WEBHOOK, chain=chain))

    chains = chains_here()
    if chains == (None,):
        return of(None)
    from starlette.routing import Mount, Router

    from shelfsync.chains import chain_that_was_alone
    from shelfsync.settings_file import read_file

    apps = {str(one): _mounted_receiver(of, one) for one in chains}
    routes = [Mount(f"/{name}", app) for name, app in apps.items()]
    if (alone := chain_that_was_alone(read_file())) in apps:  # the address that the platform knows goes on
        routes.append(Mount("", apps[str(alone)]))
    return Router(routes)


def _mounted_receiver(of: Callable[[str | None], FastAPI], chain: str | None) -> MountedApp:
    loss = f"inbox: no event of {chain} can be received"
    return MountedApp(lambda: of(chain), loss=loss, answer=NO_RECEIVER)


def mounted_pages() -> MountedApp:
    """The pages of shelfsync."""
    return MountedApp(_frozen_pages, loss="pages: cannot be shown", answer=NO_PAGES)


def _frozen_pages() -> FastAPI:
    """The pages. What the process has loaded by now stays to its end, so the garbage collector leaves it out.

    Otherwise one page in ten waits 0.1 s for a search through all of it.
    """
    app = _pages()
    gc.collect()
    gc.freeze()
    return app


def _pages() -> FastAPI:
    """The pages, or those of each chain below its name; each is opened by itself, so that wrong settings of one stop no other."""
    from shelfsync_airflow.chains import chains_here

    chains = chains_here()
    if chains == (None,):
        return _pages_of(None)
    from shelfsync.pages.chains import ChainPages, create_chains_app
    from shelfsync_airflow.app import shared_app
    from shelfsync_airflow.page_rights import chains_guard

    pages = {
        str(chain): ChainPages(
            MountedApp(partial(_pages_of, chain), loss=f"pages: {chain} cannot be shown", answer=NO_PAGES),
            partial(shared_app, chain=chain),
        )
        for chain in chains
    }
    return create_chains_app(pages, chains_guard({name: of_chain(DAG_ID, name) for name in pages}))


def _pages_of(chain: str | None) -> FastAPI:
    from shelfsync.app import shared_context
    from shelfsync.display import Display
    from shelfsync.pages.app import create_app
    from shelfsync.pages.store import SYNC
    from shelfsync_airflow.app import app_settings
    from shelfsync_airflow.page_rights import dag_states, page_guard, start_run

    settings = app_settings(chain=chain)
    shown_in = None if chain is None else Display.of(settings.time_zone, settings.currency)
    guard = page_guard(of_chain(DAG_ID, chain), of_chain(SYNC, chain))
    return create_app(
        lambda: shared_context(settings),
        guard,
        partial(dag_states, chain=chain),
        start_run=partial(start_run, chain=chain),
        shown_in=shown_in,
        chain=chain,
    )


class BlankPort:
    """ASGI middleware: Airflow's list of connections tests a connection without a port as one with port 0, which its API server rejects.

    Stored secrets are only tested against the stored host and port, and 0 is another port than none. For the connection types of this
    provider 0 is taken out of the request: no server has that port, and the stored one, or none, counts.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Callable[[Message], Awaitable[None]]) -> None:
        """One request; every request but the test of a connection passes unchanged."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].endswith(TEST_PATH):
            scope, receive = await _without_port(scope, receive)
        await self._app(scope, receive, send)


async def _without_port(scope: Scope, receive: Receive) -> tuple[Scope, Receive]:
    messages = [await receive()]
    while messages[-1].get("more_body") and sum(len(one.get("body", b"")) for one in messages) <= BODY_BYTES_MAX:
        messages.append(await receive())
    changed = None
    if messages[-1]["type"] == "http.request" and not messages[-1].get("more_body"):
        changed = without_port_0(b"".join(one.get("body", b"") for one in messages))
    if changed is not None:
        messages = [{"type": "http.request", "body": changed, "more_body": False}]
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        scope = {**scope, "headers": [*headers, (b"content-length", str(len(changed)).encode())]}
    left = iter(messages)

    async def again() -> Message:
        return next(left, None) or await receive()

    return scope, again


def without_port_0(body: bytes) -> bytes | None:
    """The request for a test without its port; None when it is to stay as it is."""
    try:
        given = json.loads(body)
    except ValueError:
        return None
    if not isinstance(given, dict) or given.get("port") != 0 or str(given.get("conn_type")) not in _types():
        return None
    return json.dumps({name: value for name, value in given.items() if name != "port"}).encode()


def _types() -> set[str]:
    from shelfsync_airflow.provider import provider_info

    return {one["connection-type"] for one in provider_info()["connection-types"]}
