"""The access token that all workers share, encrypted at rest with a key derived slowly from the client secret.

A reader of the table has neither the token nor a quick way to test guesses of the secret.
"""

from __future__ import annotations

import base64
import contextlib
import threading
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from pydantic import SecretStr
from sqlalchemy.dialects.postgresql import insert

from partner_api.tokens import HeldToken
from shelfsync.store.metadata import after, instant, metadata, moment, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

    from partner_api.session import Clock
    from partner_api.tokens import Lease

token = sa.Table(
    "token",
    metadata,
    text("fingerprint", "Derived slowly (scrypt) from address, chain, client and its secret", primary_key=True),
    sa.Column(
        "encrypted",
        sa.LargeBinary,
        comment="The access token, encrypted with a key derived slowly from the client secret; null: none is held",
    ),
    sa.Column(
        "lifetime_s", sa.Float, nullable=False, server_default="0", comment="What the token had at birth, in seconds"
    ),
    moment("expires_at", "When it ends, by the database's clock"),
    moment("leased_until", "Until when one worker alone may ask the platform for a new one"),
    schema="ledger",
    comment="The access token that all workers share",
)

KEY_COST, KEY_BLOCK, KEY_PARALLEL = 2**14, 8, 1
"""16 MiB and some 40 ms a guess."""

KEPT_S = 60.0
"""How long a process uses a token that it has read: the platform accepts every token until it ends, also beside a newer one."""
KEPT_LEFT = 0.1
"""Of its lifetime a token has more than this left, or it is read again: a client renews one near its end, and another process may have."""


@lru_cache(maxsize=64)
def slow_key(secret: str, salt: str, length: int = 64) -> bytes:
    """A key or fingerprint of a secret, so slow that a reader of the database cannot test guesses.

    Always the same for the same secret and salt; computed once a process.
    """
    return Scrypt(salt=salt.encode(), length=length, n=KEY_COST, r=KEY_BLOCK, p=KEY_PARALLEL).derive(secret.encode())


class SharedTokens:
    """One token for one platform, chain and client, in `ledger.token`; the `TokenStore` of the client.

    Lifetimes and leases are by the database's clock. A changed client secret makes another row, and the old token unreadable. A lease is
    named by its end: a renewed one has a later end.
    """

    def __init__(
        self, engine: Engine, clock: Clock, *, base_url: str, chain: str, client_id: str, client_secret: SecretStr
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._kept: tuple[HeldToken, float] | None = None
        """The token as it was read, and when. Whoever renews or rejects one reads the table again."""
        self._lock = threading.Lock()
        """Guards what is kept, and the two counts."""
        self._changes = 0
        self._under_way = 0
        """Begins and ends of this process's changes of the row, and the changes that have not ended."""
        identity = f"{base_url}\n{chain}\n{client_id}"
        derived = slow_key(client_secret.get_secret_value(), identity)
        self._row = {"fingerprint": derived[:32].hex()}
        self._fernet = Fernet(base64.urlsafe_b64encode(derived[32:]))

    def load(self) -> HeldToken | None:
        """The stored token, even if it has expired; None if there is none that this client secret decrypts.

        It may be as old as KEPT_S: another process may have renewed or rejected it since.
        """
        read_s = self._clock.monotonic_s()
        with self._lock:
            kept, changes = self._kept, self._changes
        if kept is not None:
            held, kept_s = kept
            remaining_s = held.remaining_s - (read_s - kept_s)
            if read_s - kept_s < KEPT_S and remaining_s > held.lifetime_s * KEPT_LEFT:
                return replace(held, remaining_s=remaining_s)
        left = sa.extract("epoch", token.c.expires_at - instant())
        statement = sa.select(token.c.encrypted, left, token.c.lifetime_s).where(
            self._mine, token.c.encrypted.is_not(None)
        )
        with self._engine.connect() as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return None
        try:
            held = HeldToken(SecretStr(self._fernet.decrypt(row[0]).decode()), float(row[1]), float(row[2]))
        except InvalidToken:
            return None
        with self._lock:
            if changes == self._changes and not self._under_way:
                self._kept = held, read_s
        return held

    def lease(self, seconds: float, replaces: Lease | None = None) -> Lease | None:
        """For one worker of the whole installation."""
        until = after(seconds)
        statement = insert(token).values(**self._row, leased_until=until)
        free = [token.c.leased_until.is_(None), token.c.leased_until <= instant()]
        if replaces is not None:
            free.append(token.c.leased_until == replaces)
        statement = statement.on_conflict_do_update(
            index_elements=[token.c.fingerprint], set_={"leased_until": until}, where=sa.or_(*free)
        )
        with self._changing(), self._engine.begin() as connection:
            lease: Lease | None = connection.execute(statement.returning(token.c.leased_until)).scalar_one_or_none()
        return lease

    def is_leased(self) -> bool:
        """Whether a worker of the installation has the lease."""
        statement = sa.select(token.c.leased_until > instant()).where(self._mine)
        with self._engine.connect() as connection:
            return bool(connection.execute(statement).scalar_one_or_none())

    def save(self, lease: Lease, secret: SecretStr, lifetime_s: float) -> None:
        """Stores a new token for every process and ends the lease. Does nothing if another worker has stored one since."""
        encrypted = self._fernet.encrypt(secret.get_secret_value().encode())
        self._end(lease, encrypted=encrypted, lifetime_s=lifetime_s, expires_at=after(lifetime_s))

    def release(self, lease: Lease) -> None:
        """Ends the lease without a token, if it is still the one in force."""
        self._end(lease)

    def discard(self, secret: SecretStr) -> None:
        """Deletes this token because the platform rejected it; a newer one of another worker stays."""
        with self._changing(), self._engine.begin() as connection:
            row = connection.execute(sa.select(token.c.encrypted).where(self._mine).with_for_update()).one_or_none()
            if row is not None and row[0] is not None and self._decrypts_to(row[0], secret):
                connection.execute(token.update().where(self._mine).values(encrypted=None))

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Around a change of the row: what a thread reads before its commit may be old, so none keeps it."""
        with self._lock:
            self._kept = None
            self._changes += 1
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._changes += 1
                self._under_way -= 1

    @property
    def _mine(self) -> sa.ColumnElement[bool]:
        return token.c.fingerprint == self._row["fingerprint"]

    def _decrypts_to(self, encrypted: bytes, secret: SecretStr) -> bool:
        try:
            return self._fernet.decrypt(encrypted).decode() == secret.get_secret_value()
        except InvalidToken:
            return True

    def _end(self, lease: Lease, **values: Any) -> None:
        in_force = token.c.leased_until == lease
        with self._changing(), self._engine.begin() as connection:
            connection.execute(token.update().where(self._mine, in_force).values(leased_until=None, **values))
