"""Who may deliver events and picking results: the Authorization header holds the secret, verbatim (interface.md 5.6, field notes)."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr


class Secrets:
    """The secrets in force: one, or two while it is being changed; with none nobody is let in.

    A secret is any text, `Basic dXNlcjpwYXNzd29yZA==` for one, and is compared as it is: no scheme is parsed, no case folded.
    White space around a header's value is not part of it, so none around a secret is either.
    """

    def __init__(self, *secrets: SecretStr | None) -> None:
        texts = (secret.get_secret_value().strip() for secret in secrets if secret is not None)
        self._digests = tuple(_digest(text.encode()) for text in texts if text)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def admit(self, authorization: Sequence[bytes]) -> bool:
        """True for exactly one Authorization header with a secret in force.

        Takes the same time however much of a secret was guessed right, and whichever of two it is.
        """
        presented = _digest(authorization[0] if len(authorization) == 1 else b"")
        return any([hmac.compare_digest(presented, digest) for digest in self._digests])  # noqa: C419  all of them, always


def _digest(value: bytes) -> bytes:
    """Of equal length for all, because the comparison tells lengths apart."""
    return hashlib.sha256(value).digest()


class StoreSecrets:
    """A secret for each store, derived from the picking secret, which itself opens nothing and leaves the installation never.

    `VENDOR.CODE`: the vendor with strange characters as `%XX`, and HMAC-SHA256 over it. So one store's secret is no other store's, needs
    no list, and both the present and the previous picking secret hold while it is being changed.
    """

    def __init__(self, *secrets: SecretStr | None) -> None:
        texts = (secret.get_secret_value().strip() for secret in secrets if secret is not None)
        self._keys = tuple(text.encode() for text in texts if text)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def of(self, vendor: str) -> str:
        """The store's secret. Needs a picking secret."""
        name = quote(vendor, safe="")
        return f"{name}.{_code(self._keys[0], name.encode())}"

    def vendor(self, authorization: Sequence[bytes]) -> str | None:
        """The store whose secret stands in exactly one Authorization header; None: it is no store's."""
        presented = authorization[0] if len(authorization) == 1 else b""
        name, _, code = presented.rpartition(b".")
        fits = [hmac.compare_digest(code, _code(key, name).encode()) for key in self._keys]
        return unquote(name.decode("ascii")) if any(fits) and name else None


def _code(key: bytes, name: bytes) -> str:
    return hmac.new(key, b"shelfsync picking results of " + name, hashlib.sha256).hexdigest()
