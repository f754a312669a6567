"""What a stack takes of this machine: the folders under its state folder, the locks in it, and loopback ports.

A lock is a file and flock, which the kernel releases when its holder dies.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from shelfsync.errors import ShelfsyncError, TryAgainError
from shelfsync.settings import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

LOOPBACK = "127.0.0.1"
_TRIED_MAX = 500


@dataclass(frozen=True)
class Place:
    """The folders of one stack."""

    home: Path
    project: Path = PROJECT

    @property
    def airflow(self) -> Path:
        return self.home / "airflow"

    @property
    def logs(self) -> Path:
        """One file a service; Airflow's task logs are under `airflow`."""
        return self.home / "logs"

    @property
    def run(self) -> Path:
        """Process ids, ports and locks: files that can be deleted while nothing runs."""
        return self.home / "run"

    @property
    def secrets(self) -> Path:
        return self.home / "secrets"

    def make(self) -> None:
        make_home(self.home)
        for folder in (self.airflow, self.logs, self.run):
            folder.mkdir(parents=True, exist_ok=True)
        self.secrets.mkdir(mode=0o700, exist_ok=True)


def make_home(home: Path) -> None:
    """The state folder. Other users may enter it, as the OS user of PostgreSQL has to, but cannot list it."""
    if not home.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o711)


def kept_secret(file: Path, make: Callable[[], str]) -> str:
    """The secret in `file`, created for its owner alone (mode 600) at the first call; simultaneous callers get the same secret."""
    if not file.exists():
        descriptor, partial = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)  # mode 600
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(make())
        try:
            os.link(partial, file)  # appears whole, and only if no other process was faster
        except FileExistsError:
            pass
        finally:
            Path(partial).unlink()
    return file.read_text("utf-8")


class FileLock:
    """One holder's side of the lock on `path`; shared (many at once) or exclusive (one alone). Not for two threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self, *, shared: bool = False, timeout_s: float = 0.0) -> bool:
        """Tries until `timeout_s` has passed and returns whether the lock is held. Taking it again changes shared to exclusive or back."""
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                fcntl.flock(self._descriptor, mode | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline_s:
                    return False
                time.sleep(0.02)
            else:
                return True

    def release(self) -> None:
        """Releases the lock; does nothing if it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def alone(path: Path, *, timeout_s: float, what: str) -> Iterator[None]:
    """Holds `path` exclusively. Raises TryAgainError if another process does `what`."""
    lock = FileLock(path)
    try:
        if not lock.take(timeout_s=timeout_s):
            raise TryAgainError(
                f"{what}: another process has been at it for {timeout_s:.0f} s ({path}). Wait for it, or end it."
            )
        yield
    finally:
        lock.release()


def is_free_port(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen there now, tested by binding as a server does."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def next_free_port(first: int, *, besides: Collection[int] = (), host: str = LOOPBACK) -> int:
    """`first`, or the next port above it that is free and not among `besides`."""
    for port in range(first, min(first + _TRIED_MAX, 65536)):
        if port not in besides and is_free_port(port, host):
            return port
    raise ShelfsyncError(f"No free port on {host} from {first} to {first + _TRIED_MAX}. Stop what listens there.")


class PortClaims:
    """Ports that this process has chosen and no other process may, from the choice until a server listens there, and on.

    Two stacks that start at once would both find the same port free. A claim is a socket in Linux's abstract namespace: it
    leaves no file and ends with the process. Other systems than Linux have no such socket, so there a claim protects nothing.
    """

    def __init__(self) -> None:
        self._held: dict[int, socket.socket | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for held in self._held.values():
            if held is not None:
                held.close()
        self._held.clear()

    def next_free(self, first: int) -> int:
        """`first`, or the next port above it that is free and that no other process has claimed; claims it."""
        port = next_free_port(first, besides=self._held)
        while not self._claim(port):
            port = next_free_port(port + 1, besides=self._held)
        return port

    def _claim(self, port: int) -> bool:
        if sys.platform != "linux":
            self._held[port] = None
            return True
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0shelfsync-port-{port}")
        except OSError:
            claim.close()
            return False
        self._held[port] = claim
        return True


def remembered_port(file: Path) -> int | None:
    """The port that `remember_port` wrote, None when there is none or it is no port."""
    try:
        port = int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None
    return port if 0 < port < 65536 else None


def remember_port(file: Path, port: int) -> None:
    file.write_text(f"{port}\n", "ascii")
