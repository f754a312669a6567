"""The access token that all workers share, encrypted at rest with a key made from the client secret (nobody else can use it)."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr
from sqlalchemy.dialects.postgresql import insert

from partner_api.tokens import HeldToken
from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.tables import token

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine


class SharedTokens:
    """One token for one platform, chain and client, in `ledger.token`; the `TokenStore` of the client.

    Lifetimes and leases are by the database's clock. A changed client secret makes another row, and the old token unreadable.
    """

    def __init__(self, engine: Engine, *, base_url: str, chain: str, client_id: str, client_secret: SecretStr) -> None:
        self._engine = engine
        identity = f"{base_url}\n{chain}\n{client_id}"
        secret = client_secret.get_secret_value()
        self._row = {"fingerprint": hashlib.sha256(f"{identity}\n{secret}".encode()).hexdigest()}
        key = HKDF(algorithm=SHA256(), length=32, salt=None, info=identity.encode()).derive(secret.encode())
        self._seal = Fernet(base64.urlsafe_b64encode(key))

    def load(self) -> HeldToken | None:
        """What is held, also when it has ended; None when nothing is, or nothing that this client secret opens."""
        left = sa.extract("epoch", token.c.expires_at - instant())
        statement = sa.select(token.c.sealed, left, token.c.lifetime_s).where(self._mine, token.c.sealed.is_not(None))
        with self._engine.connect() as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return None
        try:
            return HeldToken(SecretStr(self._seal.decrypt(row[0]).decode()), float(row[1]), float(row[2]))
        except InvalidToken:
            return None

    def lease(self, seconds: float) -> bool:
        """True for one worker of the whole installation."""
        until = after(seconds)
        statement = insert(token).values(**self._row, leased_until=until)
        free = sa.or_(token.c.leased_until.is_(None), token.c.leased_until <= instant())
        statement = statement.on_conflict_do_update(
            index_elements=[token.c.fingerprint], set_={"leased_until": until}, where=free
        )
        with self._engine.begin() as connection:
            return connection.execute(statement.returning(token.c.fingerprint)).one_or_none() is not None

    def save(self, secret: SecretStr, lifetime_s: float) -> None:
        """Keeps a new token for everybody and ends the lease."""
        sealed = self._seal.encrypt(secret.get_secret_value().encode())
        self._set(sealed=sealed, lifetime_s=lifetime_s, expires_at=after(lifetime_s), leased_until=None)

    def release(self) -> None:
        """Ends the lease without a token."""
        self._set(leased_until=None)

    def discard(self, secret: SecretStr) -> None:
        """Forgets this token because the platform refused it; a newer one of another worker stays."""
        with self._engine.begin() as connection:
            row = connection.execute(sa.select(token.c.sealed).where(self._mine).with_for_update()).one_or_none()
            if row is not None and row[0] is not None and self._opens_to(row[0], secret):
                connection.execute(token.update().where(self._mine).values(sealed=None))

    @property
    def _mine(self) -> sa.ColumnElement[bool]:
        return token.c.fingerprint == self._row["fingerprint"]

    def _opens_to(self, sealed: bytes, secret: SecretStr) -> bool:
        try:
            return self._seal.decrypt(sealed).decode() == secret.get_secret_value()
        except InvalidToken:
            return True

    def _set(self, **values: Any) -> None:
        statement = insert(token).values(**self._row, **values)
        with self._engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=[token.c.fingerprint], set_=values))
