"""What every operation uses: addresses, dialect, tokens, sender, and what a caller may bring: clock and gate."""

from __future__ import annotations

import datetime as dt
import socket
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from partner_api.errors import MisconfiguredError
from partner_api.tokens import Credentials, StaticToken, TokenStore

if TYPE_CHECKING:
    import random

    from partner_api.dialect import Dialect
    from partner_api.download_limits import DownloadLimits
    from partner_api.links import Link, LinkPolicy
    from partner_api.sender import Sender


class Clock(Protocol):
    def now(self) -> dt.datetime:
        """The current time, aware, in UTC. Only a date in `Retry-After` needs it, when the answer has no `Date`."""

    def monotonic_s(self) -> float:
        """Seconds of a clock that never goes back."""

    def sleep(self, seconds: float) -> None:
        """Waits for so many seconds."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


OPERATIONS = (
    "token",
    "put_catalog",
    "list_catalog",
    "categories",
    "export",
    "create_products",
    "job_status",
    "download",
    "put_promotion",
    "promotion_status",
    "put_order",
    "get_order",
    "list_orders",
    "outlet_status",
)
"""The operations that `admit` and `report` name."""

PRIORITIES = ("order", "stop_sell", "price", "catalog", "promotion", "export", "history")
"""The priorities of requests, highest first. Each call has a default and takes another by `priority=`."""


class Gate(Protocol):
    """Admits every attempt before it leaves and receives a report of every answer."""

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Returns when one request may leave; raises to forbid it (the exception reaches the caller as it is).

        `vendors`: those that the request names, `*` for all of the chain; empty where it names none (a token, a job, an order).
        """

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Reports an answer of the platform; `retry_after_s`: the wait it asks for, in seconds; `blocked`: its edge blocks this whole address.

        The client does not report answers of storage hosts: their 403 is an expired link, not a pause.
        """

    def unanswered(self, operation: str, reason: str) -> None:
        """Reports that no answer of the platform came. The request may have left; its permit ends with the next `admit` of the same caller."""

    def done(self, operation: str, priority: str, used: bool) -> None:
        """Ends a permit without an answer of the platform: a storage host answered (`used`), or the client sent nothing."""


class OpenGate:
    """Admits every request: for tools and tests. A sync brings a gate with a rate limit."""

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Admits at once."""

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Records nothing."""

    def unanswered(self, operation: str, reason: str) -> None:
        """Records nothing."""

    def done(self, operation: str, priority: str, used: bool) -> None:
        """Returns no permit."""


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
