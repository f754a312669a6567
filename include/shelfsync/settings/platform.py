"""How the platform is reached."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from shelfsync.settings.section import Section, words


class PlatformSettings(Section):
    """The delivery platform (interface.md 4 and 5; where it is silent, the defaults of the field notes)."""

    base_url: str | None = None
    chain: str | None = None
    client_id: str | None = None
    client_secret: SecretStr | None = None
    token: SecretStr | None = None
    """A static token of the partner portal, instead of client id and secret."""
    sales_limit_name: Literal["maximum_sales_quantity", "max_sales_quantity"] = "maximum_sales_quantity"
    key: Literal["sku", "barcode"] = "sku"
    """What an item is called by; the other one is not sent."""
    job_status_path: str = "/v2/chains/{chain_id}/catalog/jobs/{job_id}"
    """Where a job can be asked about; empty when the platform has no such call."""
    download_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts besides the platform's own from which logs and exports may be fetched (never with the token)."""
    private_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts that may lie in a private network and be spoken to without TLS: a sandbox beside us in compose."""
    timeout_s: float = Field(30.0, gt=0)
    proxy: SecretStr | None = None
    """An HTTP proxy on the way to the platform; the environment's own HTTPS_PROXY is not looked at."""
    dialect: dict[str, str | int | float | tuple[str, ...]] = Field(default_factory=dict)
    """Further choices of `partner_api.Dialect` by their names (docs/interface-dialects.md): `{"token_body": "json"}`."""

    _split = field_validator("download_hosts", "private_hosts", mode="before")(words)
