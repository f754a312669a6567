"""Whether others than this machine can reach the receiver without TLS."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from shelfsync.settings import WebhookSettings


def without_tls(settings: WebhookSettings) -> str | None:
    """The warning where the receiver listens beyond loopback and no proxy in front is named; None where all is well."""
    if settings.proxies or _is_loopback(settings.host):
        return None
    error = ConfigurationError(
        "SHELFSYNC_WEBHOOK__HOST",
        f"is {settings.host}: other machines reach the receiver without TLS, so secrets and orders can be read on the way",
        "Put a proxy with TLS in front, and name its address in SHELFSYNC_WEBHOOK__PROXIES (docs/receiver.md).",
    )
    return str(error)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
