"""The receiver of events."""

from __future__ import annotations

from pydantic import Field, SecretStr

from shelfsync.settings.section import Section

MIB = 1024 * 1024


class WebhookSettings(Section):
    """The receiver of job and order events (interface.md 5.6 and 6)."""

    secret: SecretStr | None = None
    """Verbatim what stands in the Authorization header of a genuine call; without it every call is refused."""
    secret_previous: SecretStr | None = None
    """Accepted too, while a secret is being changed."""
    host: str = "127.0.0.1"
    port: int = Field(8480, ge=0, le=65535)
    order_bytes_max: int = Field(1 * MIB, ge=1)
    job_bytes_max: int = Field(64 * 1024, ge=1)
