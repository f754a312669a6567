"""Checks the secret of events and picking results: the Authorization header has it verbatim (interface.md 5.6, field notes)."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from pydantic import SecretStr

    from shelfsync.settings import OrdersSettings


def note_secret(scope: MutableMapping[str, Any]) -> None:
    """Stores in the request's ASGI scope that it has a valid secret."""
    scope.setdefault("state", {})["has_secret"] = True


def has_secret(scope: Mapping[str, object]) -> bool:
    """Whether the request was found to have a valid secret."""
    state = scope.get("state")
    return isinstance(state, dict) and "has_secret" in state


class Secrets:
    """The valid secrets: one, or two during a change. Without a secret, every call is rejected.

    A secret is any text, for example `Basic dXNlcjpwYXNzd29yZA==`. It is compared verbatim: no scheme is parsed, no case folded.
    White space around a header's value is not part of it, so white space around a secret is ignored too.
    """

    def __init__(self, *secrets: SecretStr | None) -> None:
        texts = (secret.get_secret_value().strip() for secret in secrets if secret is not None)
        self._digests = tuple(_digest(text.encode()) for text in texts if text)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def admit(self, authorization: Sequence[bytes]) -> bool:
        """True for exactly one Authorization header with a valid secret.

        The time does not depend on how many characters of a guess are right, or on which of two secrets is used.
        """
        presented = _digest(authorization[0] if len(authorization) == 1 else b"")
        return any([hmac.compare_digest(presented, digest) for digest in self._digests])  # noqa: C419  all of them, always


def _digest(value: bytes) -> bytes:
    """A digest of fixed length, because the time of the comparison depends on the length."""
    return hashlib.sha256(value).digest()


def store_secret(settings: OrdersSettings, vendor: str) -> str:
    """The secret that a store sends with its picking results. ConfigurationError: the picking secret is not set."""
    if not (secrets := StoreSecrets(settings.picking_secret)):
        raise ConfigurationError(
            "SHELFSYNC_ORDERS__PICKING_SECRET",
            "is not set, so no store has a secret",
            "Set it to a long random text, for the receiver and here alike.",
        )
    return secrets.of(vendor)


class StoreSecrets:
    """A secret for each store, derived from the picking secret. The picking secret itself is not accepted and never sent.

    `VENDOR.CODE`: the vendor with special characters as `%XX`, and the HMAC-SHA256 of it. So each store has its own secret, and
    no list of them is needed. During a change, the current and the previous picking secret are both valid.
    """

    def __init__(self, *secrets: SecretStr | None) -> None:
        texts = (secret.get_secret_value().strip() for secret in secrets if secret is not None)
        self._keys = tuple(text.encode() for text in texts if text)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def of(self, vendor: str) -> str:
        """The secret of this store. Call it only if a picking secret is set."""
        name = quote(vendor, safe="")
        return f"{name}.{_code(self._keys[0], name.encode())}"

    def vendor(self, authorization: Sequence[bytes]) -> str | None:
        """The store whose secret is in the only Authorization header; None: it is not a store's secret."""
        presented = authorization[0] if len(authorization) == 1 else b""
        name, _, code = presented.rpartition(b".")
        fits = [hmac.compare_digest(code, _code(key, name).encode()) for key in self._keys]
        return unquote(name.decode("ascii")) if any(fits) and name else None


def _code(key: bytes, name: bytes) -> str:
    return hmac.new(key, b"shelfsync picking results of " + name, hashlib.sha256).hexdigest()
