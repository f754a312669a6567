"""Builds the platform's app, and runs it with the storage host of presigned links on real sockets. A hook lets a fault cut a connection."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator

import httpx
import uvicorn
from fastapi import FastAPI
from sqlalchemy import Connection
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from partner_sandbox import (
    conformance,
    control,
    demo,
    errors,
    job_files,
    job_runner,
    jobs,
    records,
    scenario,
    tokens,
    vendors,
)
from partner_sandbox.catalog import assortment, creation, listing, update
from partner_sandbox.edge import CUT, Edge
from partner_sandbox.job_files import create_storage_app
from partner_sandbox.orders import lifecycle, picking
from partner_sandbox.portal import home
from partner_sandbox.portal import router as portal
from partner_sandbox.promotions import update as promotion
from partner_sandbox.sandbox import Runner, Sandbox
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.webhook_delivery import Courier

SERVICE = (tokens, vendors, update, listing, creation, job_runner, job_files, promotion, picking)
for steered in (assortment, lifecycle, demo, records, conformance, scenario):
    control.router.include_router(steered.router)

TICK_S = 0.02


def create_app(
    settings: SandboxSettings | None = None, *, webhook_transport: httpx.AsyncBaseTransport | None = None
) -> FastAPI:
    """The service with its control plane; `app.state.sandbox` is the platform itself.

    Under a server its work goes on by itself. In a process without one (no lifespan), work that is due is done by
    `await app.state.sandbox.work.advance(seconds)` or by POST /_sandbox/clock/advance, and at no other time.
    """

    def seed(connection: Connection) -> None:
        vendors.plant(connection)
        if sandbox.settings.demo:
            demo.fill(connection, sandbox)

    sandbox = Sandbox(settings or SandboxSettings(), seed=seed, webhook_transport=webhook_transport)
    sandbox.open()
    with sandbox.storage.begin() as connection:
        jobs.forget_unqueued(connection)
    sandbox.runners |= {
        "update": Runner(update.conclude, update.apply),
        "export": Runner(listing.run_export),
        "creation": Runner(creation.run),
        "promotion": Runner(promotion.conclude, promotion.put_skus),
    }
    sandbox.work.register(job_runner.JobSource(sandbox))
    sandbox.work.register(Courier(sandbox))
    sandbox.work.register(scenario.ScenarioSource(sandbox))

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(sandbox.work.run_forever())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    app = FastAPI(title="Partner sandbox", lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    app.state.sandbox = sandbox
    errors.register(app)
    for module in (*SERVICE, control, home, portal):
        app.include_router(module.router)
    app.add_middleware(Edge, sandbox=sandbox)
    return app


class PromptServer(uvicorn.Server):
    """Checks often whether it should stop, and waits only for open connections."""

    async def main_loop(self) -> None:
        for tick in itertools.cycle(range(1_000_000)):
            if await self.on_tick(tick):
                return
            await asyncio.sleep(TICK_S)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()  # closes those that wait for nothing
        await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for listener in sockets or ():
            listener.close()
        await self.lifespan.shutdown()


class CuttableProtocol(HttpToolsProtocol):
    """Gives the app a hook that cuts its connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {CUT: self.transport.abort}  # type: ignore[dict-item]  # ty: a hook, not a dict


class _Server(PromptServer):
    """Leaves signals to the process that runs it, and can close its port for a while."""

    async def close_port(self, seconds: float) -> None:
        """Closes every connection and leaves the port closed for so long: the operating system refuses connections."""
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        while self.servers:
            self.servers.pop().close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(seconds)
        loop = asyncio.get_running_loop()
        self.servers.append(await loop.create_server(self._protocol, sock=bind(host, port)))

    def _protocol(self) -> asyncio.Protocol:
        return CuttableProtocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 lets the operating system choose."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named as TCP, or asyncio leaves Nagle's algorithm on and each answer waits 40 ms for an acknowledgement
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


def address(listener: socket.socket) -> str:
    """`http://host:port` of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _server(app: FastAPI) -> _Server:
    config = uvicorn.Config(app, http=CuttableProtocol, ws="none", log_level="warning", timeout_graceful_shutdown=2)
    return _Server(config)


class Server:
    """The platform on a separate address."""

    def __init__(
        self, settings: SandboxSettings, *, host: str = "127.0.0.1", port: int = 0, storage_port: int = 0
    ) -> None:
        self._settings = settings
        self._host = host
        self._port = port
        self._storage_port = storage_port
        self._servers: list[_Server] = []
        self._closed: asyncio.Task[None] | None = None
        self.base_url = ""
        self.app: FastAPI | None = None

    @property
    def sandbox(self) -> Sandbox:
        """The platform itself, once it runs."""
        assert self.app is not None, "the server has not been started"
        sandbox: Sandbox = self.app.state.sandbox
        return sandbox

    async def serve(self, ready: Callable[[], None]) -> None:
        """Runs until `stop`; calls `ready` when requests are answered."""
        with contextlib.ExitStack() as stack:
            service = stack.enter_context(contextlib.closing(bind(self._host, self._port)))
            storage = stack.enter_context(contextlib.closing(bind(self._host, self._storage_port)))
            self.base_url = address(service)
            self.app = create_app(self._settings)
            stack.callback(self.sandbox.close)
            self.sandbox.storage_url = self._settings.storage_url or address(storage)
            self._servers = [_server(self.app), _server(create_storage_app(self.sandbox))]
            self.sandbox.close_port = self._close_port
            stack.callback(self._open_again)
            announce = asyncio.create_task(self._announce(ready))
            stack.callback(announce.cancel)
            await asyncio.gather(
                *(
                    server.serve(sockets=[listener])
                    for server, listener in zip(self._servers, (service, storage), strict=True)
                )
            )

    def _close_port(self, seconds: float) -> None:
        if self._closed is None or self._closed.done():
            self._closed = asyncio.get_running_loop().create_task(self._servers[0].close_port(seconds))

    def _open_again(self) -> None:
        if self._closed is not None:
            self._closed.cancel()

    def stop(self) -> None:
        """Ends `serve`; callable from any thread."""
        for server in self._servers:
            server.should_exit = True

    def stop_on_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)

    async def _announce(self, ready: Callable[[], None]) -> None:
        while not all(server.started for server in self._servers):  # noqa: ASYNC110  uvicorn has a flag, not an event
            await asyncio.sleep(0.005)
        ready()
