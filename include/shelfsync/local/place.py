"""Where a stack stores its files: the project's folder, and the folders under its state folder; and the locks in it.

A lock is a file and flock, which the kernel releases when its holder dies.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.errors import TryAgainError
from shelfsync.settings.settings import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
