"""The hand-over by a signed call."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from partner_api.deadline import Deadline
from partner_api.http_library import httpx
from partner_api.sender import NO_REUSE, trusted_authorities
from shelfsync.errors import ConfigurationError, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic import SecretStr

    from shelfsync.orders.hand_over_channel import Document

NUMBER = "X-Shelfsync-Hand-Over"
SIGNATURE = "X-Shelfsync-Signature"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class SignedHttp:
    """`X-Shelfsync-Signature: t=<unix seconds>,v1=<hex>`, the hex being HMAC-SHA256 of `<unix seconds>.<body>` with the secret."""

    def __init__(self, url: str, secret: SecretStr, timeout_s: float, private_hosts: Collection[str]) -> None:
        address = urlsplit(url)
        plain_allowed = (address.hostname or "") in {*_LOOPBACK, *private_hosts}
        if address.scheme not in {"https", "http"} or (address.scheme == "http" and not plain_allowed):
            raise ConfigurationError(
                "SHELFSYNC_ORDERS__HAND_OVER_URL",
                "is no https address, and orders hold customer data",
                "Write https://, or name a private host in SHELFSYNC_PLATFORM__PRIVATE_HOSTS.",
            )
        self._url = url
        self._secret = secret
        self._timeout_s = timeout_s
        self._client = httpx.Client(
            timeout=timeout_s, follow_redirects=False, trust_env=False, limits=NO_REUSE, verify=trusted_authorities()
        )

    def write(self, document: Document) -> bool:
        """True if the store answers 2xx. TryAgainError: any other answer, or none within the timeout."""
        body = document.text.encode()
        at = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            NUMBER: str(document.hand_over_id),
            SIGNATURE: f"t={at},v1={sign(self._secret.get_secret_value(), at, body)}",
        }
        deadline = Deadline(self._timeout_s)
        trace = {"trace": deadline.see}
        try:
            with (
                deadline,
                self._client.stream("POST", self._url, content=body, headers=headers, extensions=trace) as answer,
            ):
                status = answer.status_code  # the body is not read
        except httpx.HTTPError as error:
            raise TryAgainError(
                f"the store's system did not answer: {type(error).__name__}. It is called again."
            ) from None
        if not httpx.codes.is_success(status):
            raise TryAgainError(
                f"the store's system answered {status}; 2xx means that it has the order. It is called again."
            )
        return True

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """All of them: a document that was answered 2xx is taken."""
        return [number for number, _, _ in written]

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:  # noqa: ARG002  the interface of every channel
        """None: a delivered document belongs to the store."""
        return 0

    def close(self) -> None:
        """Closes its connections."""
        self._client.close()


def sign(secret: str, at: str, body: bytes) -> str:
    """The signature that the store's system computes for comparison."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
