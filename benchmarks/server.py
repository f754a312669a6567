"""The PostgreSQL of a benchmark: the embedded one, with fsync as in production, shared by all measured processes of a run."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import psutil

from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.migrations import upgrade
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine

TEMPLATE = "bench_migrated"


@contextlib.contextmanager
def database(home: Path) -> Iterator[Engine]:
    """A migrated database of this process alone, copied from one that is migrated once."""
    server = EmbeddedPostgres(home / "server")
    server.ensure_started()
    template = create_engine(server.create_database(TEMPLATE))
    try:
        upgrade(template)
    finally:
        template.dispose()  # a template with an open connection cannot be copied
    name = f"bench_{os.getpid()}"
    engine = create_engine(server.create_database(name, template=TEMPLATE))
    try:
        yield engine
    finally:
        engine.dispose()
        server.drop_database(name)


def stop(home: Path) -> None:
    """Stops the server, if there is one."""
    EmbeddedPostgres(home / "server").stop()


def cpu_of(connection: Connection) -> Callable[[], float]:
    """CPU seconds of the server's process behind a connection, for a meter: what the client saves, the server must not pay."""
    backend = psutil.Process(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
    return lambda: sum(backend.cpu_times()[:2])
