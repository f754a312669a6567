"""Loopback ports: a free one, claimed until a server listens there, and remembered for the next start."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING, Self

from shelfsync.errors import ShelfsyncError
from shelfsync.local.state_folder import write_whole

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


LOOPBACK = "127.0.0.1"
_TRIED_MAX = 500


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
    """Others may read it at the same time: half a number would be another port."""
    write_whole(file, f"{port}\n")
