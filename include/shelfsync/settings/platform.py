"""The platform: address, chain, and the shared rate limit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from shelfsync.settings.section import Section, items


class PlatformSettings(Section):
    """The delivery platform (interface.md 4 and 5; where it is silent, the defaults of the field notes)."""

    base_url: str | None = None
    """Address of the platform's interface, without a path."""
    chain: str | None = None
    """Id of the chain on the platform."""
    client_id: str | None = None
    """Client id of the partner portal, for the request of a token."""
    client_secret: SecretStr | None = None
    """Secret of the client id."""
    token: SecretStr | None = None
    """A static token of the partner portal, instead of client id and secret."""
    sales_limit_name: Literal["maximum_sales_quantity", "max_sales_quantity"] = "maximum_sales_quantity"
    """Name of the sales limit in a request body."""
    item_key: Literal["sku", "barcode"] = "sku"
    """The field that identifies an item in a request; shelfsync does not send the other one."""
    job_status_path: str = "/v2/chains/{chain_id}/catalog/jobs/{job_id}"
    """Path of a job's status; empty: the platform has no such call."""
    download_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts besides the platform's own from which shelfsync may download logs and exports. They never receive the token."""
    private_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts that may be in a private network and without TLS, such as the sandbox in compose."""
    timeout_s: float = Field(30.0, gt=0)
    """Timeout of one request to the platform."""
    download_least_bytes_per_s: float = Field(1000.0, ge=0)
    """Least speed of a log or export, measured over 20 seconds after the first 10. A slower download ends. 0: no least speed."""
    proxy: SecretStr | None = None
    """HTTP proxy on the way to the platform. shelfsync ignores HTTPS_PROXY of the environment."""
    dialect: dict[str, str | int | float | tuple[str, ...]] = Field(default_factory=dict)
    """Further options of `partner_api.Dialect` by their names (docs/reference/interface-dialects.md): `{"token_body": "json"}`."""

    _split = field_validator("download_hosts", "private_hosts", mode="before")(items)


class RateLimitSettings(Section):
    """The shared rate limit (interface.md 8)."""

    requests_per_minute: int = Field(60, ge=1)
    """Requests that all processes together may send in any 60 seconds."""
    scope: str = Field("egress", min_length=1)
    """What the platform counts requests by: `egress` (the sender's address), `token` or `chain`; any other text is a name that you choose.

    Installations with the same scope in the same database share one rate limit (`shelfsync.platform.rate_limit.scope`).
    """
    database_url: SecretStr | None = None
    """The PostgreSQL that counts the requests, where several installations share one rate limit. Unset: SHELFSYNC_DATABASE_URL."""
    jitter_s: float = Field(1.2, ge=0.1, le=10)
    """Delay on the way to the platform that slows no later request down; it costs jitter / (60 + jitter) of the rate limit."""
    wait_max_s: float = Field(900.0, gt=0)
    """Longest wait for a slot. After it the call fails, and the caller tries again later."""
    pause_max_s: float = Field(3600.0, gt=0)
    """Longest pause that one response of the platform can cause, for example by a Retry-After of a day."""
