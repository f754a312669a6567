"""The receiver as a separate process."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import uvicorn

from shelfsync.errors import ConfigurationError
from shelfsync.inbox.store import InboxStore
from shelfsync.receiver.connection_limit import ConnectionLimit
from shelfsync.receiver.endpoints import PickingEndpoint, create_app
from shelfsync.receiver.http_protocol import ReceiverConfig
from shelfsync.receiver.idle_connection import IDLE_S
from shelfsync.receiver.metrics_page import MetricsPage
from shelfsync.receiver.open_files import ACCEPTED_AT_ONCE, allow_connections
from shelfsync.settings import WebhookSettings
from shelfsync.settings.installation import tls_warning
from shelfsync.store.engine import database_url

if TYPE_CHECKING:
    from fastapi import FastAPI

    from shelfsync.metrics import Prometheus
    from shelfsync.settings import Settings

log = logging.getLogger(__name__)

BACKLOG = 2000
"""Connections that the system holds until the receiver accepts them."""


class ReceiverServer(uvicorn.Server):
    """uvicorn's server. asyncio has one number for the system's queue and for the connections that it accepts at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Gives the queue its length again, which uvicorn has set to `ACCEPTED_AT_ONCE`."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)


def serve(settings: Settings, counters: Prometheus | None = None) -> None:
    """Receives until SIGTERM or SIGINT, then stores the events in memory and ends. ConfigurationError: a setting is missing.

    `counters`: those that the page /metrics shows; None: there is no such page.
    """
    app = receiver_app(settings)
    if counters is not None:
        page = MetricsPage(counters, settings.metrics.readers)
        app.add_route("/metrics", page.answer, methods=["GET"])
    webhook = settings.webhook
    listener = _listen(webhook.host, webhook.port)
    host, port = listener.getsockname()[:2]
    print(f"webhook receiver on http://{host}:{port}", flush=True)  # noqa: T201  the caller may need the port
    if (warning := tls_warning(webhook)) is not None:
        log.warning("inbox: %s", warning)
    ReceiverServer(config(app, webhook, most=allow_connections(webhook.connections_max))).run([listener])


def receiver_app(settings: Settings) -> FastAPI:
    """The receiver with the database of the settings. It connects at the first event."""
    if settings.database_url is None:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            "is not set, and events have to be stored",
            "Name the PostgreSQL of the ledger: postgresql://user:password@host:5432/database.",
        )
    dsn = database_url(settings.database_url.get_secret_value()).set(drivername="postgresql")
    address = dsn.render_as_string(hide_password=False)
    return create_app(InboxStore(address), settings.webhook, picking=PickingEndpoint(address, settings.orders))


def config(app: FastAPI, settings: WebhookSettings | None = None, *, most: int | None = None) -> ReceiverConfig:
    """The configuration of uvicorn. h11 limits the memory of a caller before its secret is checked. `most`: connections in all."""
    settings = settings or WebhookSettings()
    connection_limit = ConnectionLimit(
        most or settings.connections_max, settings.connections_per_address_max, settings.proxies
    )
    return ReceiverConfig(
        app,
        connection_limit,
        app.state.rejected_calls,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=ACCEPTED_AT_ONCE,
        loop="asyncio",
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=15,
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            "SHELFSYNC_WEBHOOK__PORT",
            f"cannot listen on {host}:{port}: {error.strerror}",
            "Stop what listens there, or choose another port.",
        ) from None
