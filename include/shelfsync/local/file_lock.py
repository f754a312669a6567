"""Locks of one machine: a file and flock, which the kernel releases when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shelfsync.errors import TryAgainError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
