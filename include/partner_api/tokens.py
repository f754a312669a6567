"""Bearer tokens: what the client requests them with, and the stores that keep them (interface.md 5).

The store measures the remaining lifetime (a shared store by its database's clock). It never compares the token's own dates with this
machine's clock.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from partner_api.errors import (
    CredentialsError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Client id and secret from the account manager; the client requests tokens with them."""

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
    """Whether a header can hold it as it is."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


Credentials = ClientCredentials | StaticToken
Lease = object
"""Names one lease of a store; two leases of it are never equal."""


@dataclass(frozen=True, slots=True)
class HeldToken:
    """A token as a store knows it now. `remaining_s` counts down; `lifetime_s` is what it had at first. Both in seconds."""

    secret: SecretStr
    remaining_s: float
    lifetime_s: float


class TokenStore(Protocol):
    """Where tokens are kept between requests. A shared one makes all workers of an installation use one token."""

    def load(self) -> HeldToken | None:
        """The token in the store, also an expired one (`remaining_s` <= 0); None if there is none."""

    def lease(self, seconds: float, replaces: Lease | None = None) -> Lease | None:
        """A lease for one caller, who alone may request a token until `save`, `release` or so many seconds; None for others.

        `replaces`: a lease of this caller, which the new one replaces unless another caller took one since.
        """

    def is_leased(self) -> bool:
        """Whether a caller holds a lease now."""

    def save(self, lease: Lease, secret: SecretStr, lifetime_s: float) -> None:
        """Stores the token and ends the lease. Does nothing if another caller took a lease since: that caller's token counts."""

    def release(self, lease: Lease) -> None:
        """Ends the lease without a token, if it is still in force."""

    def discard(self, secret: SecretStr) -> None:
        """Removes this token if the store still holds it: the platform rejected it."""


@dataclass
class MemoryTokenStore:
    """For one process; may be given to several clients of the same credentials."""

    monotonic_s: Callable[[], float] = time.monotonic
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

    def lease(self, seconds: float, replaces: Lease | None = None) -> Lease | None:
        with self._lock:
            if self._is_leased() and replaces != self._leases:
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
