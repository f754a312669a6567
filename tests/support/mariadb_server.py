"""A real MariaDB of Debian's package, started for a test; it plays an ERP."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pymysql
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
START_S = 60


def is_installed() -> bool:
    """Whether this machine has the server; `.ci/run` installs it, by `apt-get install mariadb-server-core mariadb-client-core`."""
    return None not in map(_program, ("mariadbd", "mariadb-install-db", "my_print_defaults"))


@contextlib.contextmanager
def running(folder: Path) -> Iterator[int]:
    """The port of a server with an empty database `erp`, and a user `shop` with the password `canary-password-3`, on this machine."""
    user = ["--user=root"] if os.geteuid() == 0 else []
    data = folder / "data"
    subprocess.run(
        [str(_program("mariadb-install-db")), "--no-defaults", *user, f"--datadir={data}", "--auth-root-authentication-method=normal",
         "--skip-test-db"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [str(_program("mariadbd")), "--no-defaults", *user, f"--datadir={data}", f"--socket={folder / 'socket'}", f"--port={port}",
             "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=32M", "--skip-log-bin"],
            stdout=log,
            stderr=log,
        )  # fmt: skip
    try:
        with _connected(folder, server) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE erp")
            cursor.execute("CREATE USER shop@'127.0.0.1' IDENTIFIED BY 'canary-password-3'")
            cursor.execute("GRANT ALL ON erp.* TO shop@'127.0.0.1'")
            cursor.execute("GRANT PROCESS ON *.* TO shop@'127.0.0.1'")
        yield port
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def _connected(folder: Path, server: subprocess.Popen[bytes]) -> Iterator[pymysql.Connection]:
    deadline = time.monotonic() + START_S
    while True:
        try:
            connection = _connect(folder / "socket")
        except (FileNotFoundError, pymysql.err.OperationalError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((folder / "log").read_text("utf-8")) from None
            time.sleep(0.1)
        else:
            break
    with connection:
        yield connection


def _connect(path: Path) -> pymysql.Connection:
    path.stat()  # PyMySQL leaves a socket open if the file is missing
    return pymysql.connect(unix_socket=str(path), user="root")


def _program(name: str) -> str | None:
    return shutil.which(name, path=PATH)


@pytest.fixture(scope="session")
def mariadb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A MariaDB that plays the ERP, as `running` starts it."""
    if not is_installed():
        pytest.skip("MariaDB's server is not installed: apt-get install mariadb-server-core mariadb-client-core")
    with running(tmp_path_factory.mktemp("mariadb")) as port:
        yield port
