"""Bearer tokens: taken from a store, renewed by one caller at a time before their end (interface.md 5).

How long a token still lives is relative time, measured by the store (a shared one by its database's clock), never the token's own
dates compared with this machine's clock.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from partner_api.clock import Clock, SystemClock
from partner_api.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import SecretStr

LEASE_S = 60.0
"""Longest time for which one caller alone may ask for a token; then another may, whatever became of the first."""


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Client id and secret of the account manager; tokens are made from them."""

    client_id: str
    client_secret: SecretStr

    def __post_init__(self) -> None:
        if not self.client_id.strip() or not self.client_secret.get_secret_value().strip():
            raise CredentialsError("client id or client secret is empty")


@dataclass(frozen=True, slots=True)
class StaticToken:
    """A token of the partner portal that does not expire."""

    token: SecretStr

    def __post_init__(self) -> None:
        if not is_token(self.token.get_secret_value()):
            raise CredentialsError(
                "the static token is empty or holds blanks, line ends or other characters that no token has"
            )


def is_token(text: str) -> bool:
    """Whether it can stand in a header as it is."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


Credentials = ClientCredentials | StaticToken
Lease = object
"""Names one lease of a store; two leases of it are never equal."""


@dataclass(frozen=True, slots=True)
class HeldToken:
    """A token as a store knows it now. `remaining_s` counts down; `lifetime_s` is what it had at birth."""

    secret: SecretStr
    remaining_s: float
    lifetime_s: float

    def is_fresh(self, margin_s: float) -> bool:
        """Whether it need not be renewed yet."""
        return self.remaining_s > min(margin_s, self.lifetime_s / 10)


class TokenStore(Protocol):
    """Where tokens are kept between requests. A shared one makes all workers of an installation use one token.

    Methods may be coroutine functions for an async client; others are called in a thread there.
    """

    def load(self) -> HeldToken | None:
        """What is held, also when it has ended (`remaining_s` <= 0)."""

    def lease(self, seconds: float, mine: Lease | None = None) -> Lease | None:
        """For one caller, who alone may ask the platform for a token until `save`, `release` or so many seconds; None for others.

        `mine`: a lease of this caller's, which the new one replaces if nobody took another since.
        """

    def is_leased(self) -> bool:
        """Whether somebody has a lease now."""

    def save(self, lease: Lease, secret: SecretStr, lifetime_s: float) -> None:
        """Replaces what is held and ends the lease; nothing when another was taken since: that caller's token counts."""

    def release(self, lease: Lease) -> None:
        """Ends the lease without a token, if it is still the one in force."""

    def discard(self, secret: SecretStr) -> None:
        """Forgets this token if it is still the one held: the platform refused it."""


@dataclass
class MemoryTokenStore:
    """For one process; may be given to several clients of the same credentials."""

    monotonic_s: Callable[[], float] = field(default_factory=lambda: _system.monotonic_s)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _held: tuple[SecretStr, float, float] | None = field(default=None, repr=False)
    _leased_until_s: float | None = None
    _leases: int = 0

    def load(self) -> HeldToken | None:
        with self._lock:
            if self._held is None:
                return None
            secret, born_s, lifetime_s = self._held
            return HeldToken(secret, born_s + lifetime_s - self.monotonic_s(), lifetime_s)

    def lease(self, seconds: float, mine: Lease | None = None) -> Lease | None:
        with self._lock:
            if self._is_leased() and mine != self._leases:
                return None
            self._leased_until_s = self.monotonic_s() + seconds
            self._leases += 1
            return self._leases

    def is_leased(self) -> bool:
        with self._lock:
            return self._is_leased()

    def save(self, lease: Lease, secret: SecretStr, lifetime_s: float) -> None:
        with self._lock:
            if lease == self._leases:
                self._held = (secret, self.monotonic_s(), lifetime_s)
                self._leased_until_s = None

    def release(self, lease: Lease) -> None:
        with self._lock:
            if lease == self._leases:
                self._leased_until_s = None

    def _is_leased(self) -> bool:
        return self._leased_until_s is not None and self.monotonic_s() < self._leased_until_s

    def discard(self, secret: SecretStr) -> None:
        with self._lock:
            if self._held is not None and self._held[0] == secret:
                self._held = None


_system: Clock = SystemClock()
