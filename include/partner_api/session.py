"""What every operation uses: addresses, dialect, gate, tokens, sender, time, randomness."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from partner_api.errors import MisconfiguredError
from partner_api.tokens import Credentials, StaticToken, TokenStore

if TYPE_CHECKING:
    import random

    from partner_api.clock import Clock
    from partner_api.dialect import Dialect, DownloadLimits
    from partner_api.gate import Gate
    from partner_api.links import Link, LinkPolicy
    from partner_api.sender import Sender

Resolver = Callable[[str, int], list[str]]
"""Host and port to the addresses the host has now."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Session:
    """Everything of one client except its operations."""

    platform: Link
    chain_id: str
    credentials: Credentials
    dialect: Dialect
    limits: DownloadLimits
    policy: LinkPolicy
    gate: Gate
    tokens: TokenStore
    clock: Clock
    sender: Sender
    resolve: Resolver | None
    timeout_s: float
    attempts_max: int
    wait_max_s: float
    chance: random.Random
    new_id: Callable[[], str]
    discovered: dict[str, str] = field(default_factory=dict)
    """What the client finds out about the dialect by trying, e.g. which history path answers."""

    def url(self, path: str, **segments: str) -> str:
        """The address of a path of the dialect; each segment is percent-encoded, and none is empty, `.` or `..`."""
        filled = filled_path(path, {"chain_id": self.chain_id, **segments})
        return f"{self.platform.authority}{self.platform.target.rstrip('/')}/{filled.lstrip('/')}"

    def secrets(self) -> list[str]:
        """The values that no text may show: the credentials' secret."""
        if isinstance(self.credentials, StaticToken):
            return [self.credentials.token.get_secret_value()]
        return [self.credentials.client_secret.get_secret_value()]


def filled_path(path: str, segments: dict[str, str]) -> str:
    """A path of the dialect with its placeholders filled in; each segment is percent-encoded.

    MisconfiguredError: a segment is empty, `.` or `..`, or the path has an unknown placeholder.
    """
    encoded = {}
    for name, value in segments.items():
        if not isinstance(value, str) or value in {"", ".", ".."}:
            raise MisconfiguredError(
                f"{name} is {value!r}, which cannot be part of a path", remedy=f"Give a real {name}"
            )
        encoded[name] = quote(value, safe="")
    try:
        return path.format(**encoded)
    except (KeyError, IndexError, ValueError):
        raise MisconfiguredError(
            f"the dialect's path {path!r} has a placeholder that is not one of {sorted(encoded)}",
            remedy="Correct the dialect",
        ) from None


def result_paths(platform: Link, chain_id: str, dialect: Dialect) -> tuple[str, ...]:
    """Where this platform serves logs and exports of this chain, as paths of its host."""
    base = platform.target.rstrip("/")
    return tuple(f"{base}/{filled_path(one, {'chain_id': chain_id}).lstrip('/')}" for one in dialect.result_paths)


def operations(platform: Link, dialect: Dialect) -> tuple[str, ...]:
    """Paths of its host that serve no results (`Dialect.paths_of_operations`), of any chain."""
    base = platform.target.rstrip("/")
    return tuple(f"{base}/{one.lstrip('/')}" for one in dialect.paths_of_operations)


def system_resolver(host: str, port: int) -> list[str]:
    """The machine's name service, IPv4 first as the more likely to be routed."""
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(entry[4][0]) for entry in found)
    return sorted(addresses, key=lambda address: ":" in address)


def new_request_id() -> str:
    """A new id for one request."""
    return str(uuid.uuid4())
