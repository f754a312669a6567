"""Bearer tokens: kept in a store, renewed by one caller at a time before they expire (interface.md 5).

The store measures the remaining lifetime (a shared store by its database's clock). It never compares the token's own dates with this
machine's clock.

A caller that needs a token passes the gate first and takes the lease after it. A wait at the gate may be long, and a lease held
meanwhile cannot distinguish a waiting caller from a dead one. A caller that passes the gate too late returns its permit.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode

from pydantic import SecretStr

from partner_api import exchange, json_values
from partner_api.errors import (
    BlockedError,
    CredentialsError,
    MisconfiguredError,
    PartnerError,
    ThrottledError,
    UnavailableError,
    UnexpectedAnswerError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from partner_api.session import Session

LEASE_S = 60.0
"""Longest time for which one caller alone may request a token; then another may."""
POLL_S = 0.1
"""Seconds between two looks at whether another caller has finished its renewal."""


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

    def is_fresh(self, margin_s: float) -> bool:
        """Whether it need not be renewed yet."""
        return self.remaining_s > min(margin_s, self.lifetime_s / 10)


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


def can_renew(session: Session) -> bool:
    """Whether the client can request another token: not with a static one."""
    return not isinstance(session.credentials, StaticToken)


def token(session: Session, priority: str, rejected: SecretStr | None = None) -> SecretStr:
    """A token other than the rejected one. While another caller renews, a token that has not yet expired is used.

    The same token is used if the platform gives no new one now; the next call tries again. Without one, the PartnerError of the last
    attempt is raised. Credentials that the platform rejects are an error at once.
    """
    if isinstance(session.credentials, StaticToken):
        return session.credentials.token
    if rejected is not None:
        session.tokens.discard(rejected)
    attempt = 0
    while True:
        found, turn = _found(session)
        if found is not None:
            return found
        try:
            renewed = _renew(session, priority, turn)
        except PartnerError as error:
            held = session.tokens.load()
            if held is not None and held.remaining_s > 0 and not isinstance(error, MisconfiguredError):
                return held.secret
            attempt += 1
            pause_s = _again_s(session, error, attempt)
            if pause_s is None:
                raise
            session.clock.sleep(pause_s)
        else:
            if renewed is not None:
                return renewed


def _found(session: Session) -> tuple[SecretStr | None, Lease | None]:
    """A token to use now, or None: then this caller requests one, under the lease returned with it if the old token is still valid."""
    waited_s = 0.0
    while True:
        held = session.tokens.load()
        if held is not None and held.is_fresh(session.dialect.token_margin_s):
            return held.secret, None
        if held is not None and held.remaining_s > 0:
            turn = session.tokens.lease(LEASE_S)
            return (held.secret, None) if turn is None else (None, turn)
        if not session.tokens.is_leased():
            return None, None
        if waited_s > 2 * LEASE_S:
            raise UnavailableError(
                f"no token came within {2 * LEASE_S:g} s while other callers requested one", operation="token"
            )
        session.clock.sleep(POLL_S)
        waited_s += POLL_S


def is_usable(session: Session, secret: SecretStr) -> bool:
    """Whether this token is still valid and no newer one has replaced it."""
    if isinstance(session.credentials, StaticToken):
        return True
    held = session.tokens.load()
    return held is not None and held.secret == secret and held.remaining_s > 0


def _renew(session: Session, priority: str, turn: Lease | None) -> SecretStr | None:
    """Requests one token; None if another caller requests one by the time the gate admits this caller.

    `turn`: a lease taken before the gate while the old token is valid, so that only one caller queues for a renewal.
    """
    lease = turn
    try:
        session.gate.admit("token", priority, ())
        lease = session.tokens.lease(LEASE_S, turn)
        if lease is None:
            session.gate.done("token", priority, False)
            return None
        held = session.tokens.load()  # another caller may have just renewed it
        if held is not None and held.is_fresh(session.dialect.token_margin_s):
            session.tokens.release(lease)
            session.gate.done("token", priority, False)
            return held.secret
        secret, lifetime_s = _request(session, priority)
    except BaseException:
        if lease is not None:
            session.tokens.release(lease)
        raise
    session.tokens.save(lease, secret, lifetime_s)
    return secret


def _again_s(session: Session, error: PartnerError, attempt: int) -> float | None:
    """Seconds to wait before the next request, which passes the gate and takes a lease of its own; None: no further attempt."""
    passing = isinstance(error, ThrottledError) or (isinstance(error, UnavailableError) and error.status != 408)
    if attempt >= session.attempts_max or not passing or isinstance(error, BlockedError):
        return None
    pause_s = exchange.backoff_s(session, attempt) if error.retry_after_s is None else error.retry_after_s
    return pause_s if pause_s <= session.wait_max_s else None


def _request(session: Session, priority: str) -> tuple[SecretStr, float]:
    """A new token and its remaining lifetime in seconds, counted from before the request."""
    requested_at_s = session.clock.monotonic_s()
    answer = exchange.judged(session, _call(session, priority))
    body = json_values.mapping(json_values.json_or_none(answer.body))
    text = json_values.text(body, "access_token", "token")
    if text is None or not is_token(text):
        raise UnexpectedAnswerError(
            "the answer holds no access_token",
            operation="token",
            status=answer.status,
            request_id=answer.request_id,
        )
    expires_in_s = json_values.decimal(body, "expires_in")
    longest_s = session.dialect.token_lifetime_s
    lifetime_s = min(float(expires_in_s), longest_s) if expires_in_s is not None and expires_in_s > 0 else longest_s
    return SecretStr(text), lifetime_s - (session.clock.monotonic_s() - requested_at_s)


def _call(session: Session, priority: str) -> exchange.Call:
    credentials = session.credentials
    if isinstance(credentials, StaticToken):
        raise CredentialsError("a static token cannot be renewed", operation="token")
    fields = {
        "grant_type": "client_credentials",
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret.get_secret_value(),
    }
    as_json = session.dialect.token_body == "json"  # noqa: S105  a value of the dialect
    return exchange.Call(
        operation="token",
        priority=priority,
        vendors=(),
        method="POST",
        url=session.url(session.dialect.token_path),
        body=(json.dumps(fields) if as_json else urlencode(fields)).encode(),
        headers={"Content-Type": "application/json" if as_json else "application/x-www-form-urlencoded"},
        safe_to_repeat=True,
        bearer=False,
        admitted=True,
        deadline_s=LEASE_S / 2,
        attempts_max=1,
    )
