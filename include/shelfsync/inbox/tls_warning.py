"""Warns if other machines can reach the receiver without TLS."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from shelfsync.settings import WebhookSettings


def tls_warning(settings: WebhookSettings) -> str | None:
    """The warning if the receiver listens beyond loopback and the settings name no proxy; otherwise None."""
    if settings.proxies or _is_loopback(settings.host):
        return None
    error = ConfigurationError(
        "SHELFSYNC_WEBHOOK__HOST",
        f"is {settings.host}: other machines reach the receiver without TLS, so secrets and orders can be read in transit",
        "Put a proxy with TLS in front, and name its address in SHELFSYNC_WEBHOOK__PROXIES (docs/how-to/receiver.md).",
    )
    return str(error)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
