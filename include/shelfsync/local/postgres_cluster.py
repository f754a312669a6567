"""One data folder of PostgreSQL and the server that works in it, by the programs initdb and pg_ctl. The caller holds the locks."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ShelfsyncError
from shelfsync.local.ports import LOOPBACK, next_free_port

if TYPE_CHECKING:
    from shelfsync.local.postgres_binaries import Binaries, OsUser

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0
STALE_TIMEOUT_S = 15.0
"""How long the remains of a killed server may block a start; two seconds were observed."""
_IN_THE_WAY = ("postmaster.pid", "pre-existing shared memory", "ddress already in use")


@dataclass(frozen=True)
class Postmaster:
    """The first process of a running server."""

    pid: int
    port: int


@dataclass(frozen=True)
class Cluster:
    """`place` holds data and log. `fsync=False` is for tests alone: a power cut then loses data."""

    place: Path
    fsync: bool = True

    @property
    def data(self) -> Path:
        return self.place / "data"

    @property
    def log(self) -> Path:
        return self.place / "postgres.log"

    @property
    def major(self) -> int:
        """The version of PostgreSQL that made the data."""
        return int((self.data / "PG_VERSION").read_text("ascii"))

    def postmaster(self) -> Postmaster | None:
        """The server that works in the data folder. A pid file whose process has ended, or is another program, does not count."""
        import psutil

        try:
            lines = (self.data / "postmaster.pid").read_text("utf-8").splitlines()
            found = Postmaster(int(lines[0]), int(lines[3]))
            process = psutil.Process(found.pid)
        except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
            return None
        return found if self._works_here(process) else None

    def initialise(self, binaries: Binaries, user: OsUser, *, role: str, password: str) -> None:
        """Creates an empty data folder, complete or not at all; `role` is its superuser."""
        partial, given = self.place / "data.partial", self.place / "password.given"
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir()
        user.own(partial, 0o700)
        given.touch(mode=0o600)
        user.own(given, 0o600)
        given.write_text(password, "ascii")
        words = ["--username", role, "--pwfile", str(given), "--auth", "scram-sha-256", "--encoding", "UTF8"]
        words += ["--locale", "C"]
        if binaries.major >= 17:  # text in byte order, upper and lower case of all letters known
            words += ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
        words += [] if self.fsync else ["--no-sync"]
        try:
            done = _run([binaries.program("initdb"), "--pgdata", str(partial), *words], user)
        finally:
            given.unlink()
        if done.returncode:
            raise ShelfsyncError(f"PostgreSQL's initdb failed in {partial}: {last_line(done.stderr)}")
        partial.rename(self.data)

    def start(self, binaries: Binaries, user: OsUser, *, first_port: int) -> int:
        """Starts the server and returns its port once it answers. Handles remains of a killed server, and a port that is taken."""
        self.log.touch()
        user.own(self.log, 0o600)
        port, deadline_s = first_port, time.monotonic() + STALE_TIMEOUT_S
        command = [binaries.program("pg_ctl"), "start", "-w", "-t", str(int(START_TIMEOUT_S)), "-D", str(self.data)]
        while True:
            port = next_free_port(port)
            seen_bytes = self.log.stat().st_size
            done = _run([*command, "-l", str(self.log), "-o", self._options(port)], user)
            if done.returncode == 0:
                return port
            message = self.log.read_text("utf-8", errors="replace")[seen_bytes:]
            if time.monotonic() > deadline_s or not any(words in message for words in _IN_THE_WAY):
                why = last_line(message or done.stderr)
                raise ShelfsyncError(f"The embedded PostgreSQL did not start: {why} The whole story: {self.log}")
            self._clear_stale_pid_file()
            time.sleep(0.25)

    def stop(self, binaries: Binaries, user: OsUser) -> None:
        """Stops the server cleanly: open transactions are rolled back. Does nothing if no server runs."""
        for mode in ("fast", "immediate"):
            if not self.postmaster():
                return
            seconds = str(int(STOP_TIMEOUT_S))
            done = _run(
                [binaries.program("pg_ctl"), "stop", "-w", "-t", seconds, "-m", mode, "-D", str(self.data)], user
            )
        if self.postmaster():
            raise ShelfsyncError(f"The embedded PostgreSQL in {self.data} does not stop: {last_line(done.stderr)}")

    def _options(self, port: int) -> str:
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(port),
            "unix_socket_directories": "",
            "max_connections": "100",
            "shared_buffers": "64MB",
            "timezone": "UTC",
        }
        if not self.fsync:
            settings |= {"fsync": "off", "full_page_writes": "off"}
        return " ".join(f"-c {name}={value}" for name, value in settings.items())

    def _clear_stale_pid_file(self) -> None:
        """After a kill -9, another program may have the dead server's process id, and PostgreSQL would wait for it for ever."""
        import psutil

        if not any(self._works_here(process) for process in psutil.process_iter()):
            (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _works_here(self, process: Any) -> bool:
        """Every process of a PostgreSQL server has its data folder as its working folder."""
        import psutil

        try:
            return bool(process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == self.data.resolve())
        except (psutil.Error, OSError):
            return False


def last_line(text: str) -> str:
    """The most useful line of the output of a program of PostgreSQL."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if "FATAL" in line or "error" in line.lower()] or lines
    return causes[-1] if causes else "it reported nothing."


def _run(words: list[str], user: OsUser) -> subprocess.CompletedProcess[str]:
    """Runs a program of PostgreSQL as `user`, without the terminal's Ctrl-C and the caller's PG* variables.

    The server inherits what the program is given: files, because a pipe to it would never come to its end, and a folder in which
    every user may stand.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as message:
        done = subprocess.run(  # noqa: S603  programs of the wheel, fixed words
            words,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=message,
            cwd="/",
            env=environment,
            start_new_session=True,
            **user.switch,
        )
        message.seek(0)
        return subprocess.CompletedProcess(words, done.returncode, "", message.read())
