"""Loopback ports: whether one is free, the next one that is, and a memory of what was chosen."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

LOOPBACK = "127.0.0.1"
_TRIED_MAX = 500


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen there now. Asked by binding, as a server would."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def next_free(first: int, *, besides: Collection[int] = (), host: str = LOOPBACK) -> int:
    """`first`, or the next port above it that is free and not among `besides`."""
    for port in range(first, min(first + _TRIED_MAX, 65536)):
        if port not in besides and is_free(port, host):
            return port
    raise ShelfsyncError(f"No free port on {host} from {first} to {first + _TRIED_MAX}. Stop what listens there.")


def remembered(file: Path) -> int | None:
    """The port that `remember` wrote, None when there is none or it is no port."""
    try:
        port = int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None
    return port if 0 < port < 65536 else None


def remember(file: Path, port: int) -> None:
    file.write_text(f"{port}\n", "ascii")
