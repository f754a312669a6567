"""The servers of a benchmark: PostgreSQL (embedded, with fsync as in production, shared by all measured processes of a run), and others.

`python -m benchmarks.server` is one that receives bodies.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from shelfsync.catalog.ledger import batches, runs, vendor_runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.warehouse import record
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.migrations.upgrade import upgrade
from shelfsync.store import monthly_partitions
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

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
    return cpu_of_process(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())


def cpu_of_process(pid: int) -> Callable[[], float]:
    """The same of a process by its number."""
    backend = psutil.Process(pid)
    return lambda: sum(backend.cpu_times()[:2])


def cpu_of_server(home: Path) -> Callable[[], float]:
    """The same of all of the server's processes, for what opens its own connection; the server adds up what has ended."""
    server = psutil.Process(EmbeddedPostgres(home / "server").status().pid)

    def seconds() -> float:
        while True:
            times = server.cpu_times()
            with contextlib.suppress(psutil.NoSuchProcess):  # one has ended since: its time is the server's now
                living = sum(sum(child.cpu_times()[:2]) for child in server.children())
                return float(times.children_user + times.children_system + living)

    return seconds


def copy_out(connection: Connection, query: str) -> bytes:
    """The rows of a query as CSV."""
    with connection.connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as out:
        return b"".join(out)


def copy_in(connection: Connection, table: str, ready: bytes) -> None:
    """Rows that are ready as CSV, into a table."""
    with connection.connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
        copy.write(ready)


def open_jobs(engine: Engine, vendors: list[str], sent: int) -> dict[str, int]:
    """One job a vendor, as `deliver` leaves it; their numbers."""
    begun = {}
    with engine.begin() as connection:
        monthly_partitions.ensure(connection, "sku_outcome", dt.datetime.now(dt.UTC))
        run_id = runs.open_run(connection, key="bench", kind="full", vendors=(), dry_run=False)
        record.RUN.copy(connection, [run_id])
        for vendor in vendors:
            generation = vendor_runs.next_generation(connection)
            vendor_runs.begin(connection, run_id, vendor, generation=generation, raw_path="raw")
            record.VENDOR.copy(connection, [vendor])
            batches.plan(
                connection,
                run_id=run_id,
                vendor=vendor,
                generation=generation,
                base_version=0,
                snapshot_path="snapshot",
                pieces=[("items", sent, sent)],
            )
            (planned,) = batches.planned(connection, vendor, run_id)
            job_id = catalog_jobs.begin(
                connection,
                batch_id=planned.batch_id,
                vendor=vendor,
                plan=planned.plan,
                sent=sent,
                deadline_s=3600,
            )
            assert job_id is not None
            record.JOB.copy(connection, [job_id])
            begun[vendor] = job_id
    return begun


@contextlib.contextmanager
def running(folder: Path, command: list[str], environment: dict[str, str]) -> Iterator[str]:
    """A server; its address, which is in the first line that it prints."""
    with (folder / f"{Path(command[-1]).name}.log").open("w") as log:
        process = subprocess.Popen(
            command, env=with_settings(environment), stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://[\w.:]+", line)
            if found is None:
                raise RuntimeError(f"{command[0]} printed no address: {line!r}")
            yield found[0]
        finally:
            process.terminate()
            process.wait(30)


def with_settings(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process with these settings and none of the caller's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SHELFSYNC_")}
    include = str(Path(__file__).resolve().parents[1] / "include")
    return {**kept, "PYTHONPATH": include, **environment}


_BUFFER_BYTES = 1 << 20


def receive() -> None:
    """A platform that reads any body as fast as possible and returns its length and, if the path asks for it, its hash; serves for ever."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            _serve(connection)


def receiving(folder: Path) -> AbstractContextManager[str]:
    """The address of such a platform in a process of its own, which runs for as long as the block."""
    return running(folder, [sys.executable, "-m", "benchmarks.server"], {})


def _serve(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, first = data.partition(b"\r\n\r\n")
    length = int(re.findall(rb"(?im)^content-length:\s*(\d+)", head)[0])
    digest = hashlib.sha256(first) if b"checked" in head.split(b"\r\n", 1)[0] else None
    left, buffer = length - len(first), bytearray(_BUFFER_BYTES)
    while left > 0:
        count = connection.recv_into(buffer, min(left, _BUFFER_BYTES))
        if not count:
            return
        left -= count
        if digest is not None:
            digest.update(memoryview(buffer)[:count])
    body = {"job_id": f"{length}-{digest.hexdigest() if digest else ''}", "job_status": "QUEUED"}
    text = json.dumps(body).encode()
    connection.sendall(
        b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        % len(text)
        + text
    )


if __name__ == "__main__":
    receive()
