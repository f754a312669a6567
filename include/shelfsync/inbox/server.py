"""The receiver as a process of its own."""

from __future__ import annotations

import logging
import resource
import socket
from typing import TYPE_CHECKING

import uvicorn

from shelfsync.errors import ConfigurationError
from shelfsync.inbox.patience import PatientProtocol
from shelfsync.inbox.picking import PickingDoor
from shelfsync.inbox.receiver import create_app
from shelfsync.inbox.store import InboxStore
from shelfsync.ledger.engine import database_url

if TYPE_CHECKING:
    from fastapi import FastAPI

    from shelfsync.settings import Settings

CONNECTIONS_MAX = 2000


def serve(settings: Settings) -> None:
    """Receives until it is told to stop (SIGTERM, SIGINT), then stores what it has taken in and ends."""
    app = receiver_app(settings)
    listener = _listen(settings.webhook.host, settings.webhook.port)
    host, port = listener.getsockname()[:2]
    print(f"webhook receiver on http://{host}:{port}", flush=True)  # noqa: T201  whoever started it may need the port
    _allow_connections()
    uvicorn.Server(config(app)).run([listener])


def receiver_app(settings: Settings) -> FastAPI:
    """The receiver over the database of the settings; connects at the first event."""
    if settings.database_url is None:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            "is not set, and events have to be stored",
            "Name the PostgreSQL of the ledger: postgresql://user:password@host:5432/database.",
        )
    dsn = database_url(settings.database_url.get_secret_value()).set(drivername="postgresql")
    address = dsn.render_as_string(hide_password=False)
    return create_app(InboxStore(address), settings.webhook, picking=PickingDoor(address, settings.orders))


def config(app: FastAPI) -> uvicorn.Config:
    """h11 because it bounds what a caller can make us hold before it has shown the secret."""
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX,
        backlog=CONNECTIONS_MAX,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=15,
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=CONNECTIONS_MAX)
    except OSError as error:
        raise ConfigurationError(
            "SHELFSYNC_WEBHOOK__PORT",
            f"cannot listen on {host}:{port}: {error.strerror}",
            "Stop what listens there, or choose another port.",
        ) from None


def _allow_connections() -> None:
    """Room for them: the usual 1,024 descriptors are fewer than one slow caller can open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX * 2
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    logging.getLogger(__name__).debug("inbox: %d descriptors", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
