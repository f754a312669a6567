"""The receiver of events."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic.networks import IPvAnyNetwork  # noqa: TC002  pydantic reads annotations
from pydantic_settings import NoDecode

from shelfsync.settings.section import Section, SharedSecret, words

MIB = 1024 * 1024


class WebhookSettings(Section):
    """The receiver of job and order events (interface.md 5.6 and 6)."""

    secret: SharedSecret | None = None
    """Verbatim what stands in the Authorization header of a genuine call; without it every call is refused."""
    secret_previous: SharedSecret | None = None
    """Accepted too, while a secret is being changed."""
    host: str = "127.0.0.1"
    port: int = Field(8480, ge=0, le=65535)
    order_bytes_max: int = Field(1 * MIB, ge=1)
    job_bytes_max: int = Field(64 * 1024, ge=1)
    connections_max: int = Field(2000, ge=1)
    """Connections in all. Where there are more, those give way that have sent no request yet, the oldest first."""
    connections_per_address_max: int = Field(256, ge=1)
    """Connections from one address, in the same way; an IPv6 address stands for its /64."""
    proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(words)] = ()
    """Addresses or networks of the proxies that end TLS in front of the receiver; they bound connections by address themselves (docs/receiver.md)."""
