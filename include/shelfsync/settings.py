"""Every setting, read once: environment first, then the file named by SHELFSYNC_CONFIG (or ./shelfsync.toml), then the default.

A setting `platform.chain` is `SHELFSYNC_PLATFORM__CHAIN` in the environment and `chain` under `[platform]` in the file.
Secrets are `SecretStr`: they do not show in a repr, a log or a dump.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from shelfsync.errors import ConfigurationError

MIB = 1024 * 1024


def _words(value: Any) -> Any:
    """A comma-separated text as the words in it; anything else as it is."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlatformSettings(_Section):
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

    _split = field_validator("download_hosts", "private_hosts", mode="before")(_words)


class ErpSettings(_Section):
    """Where stock and prices come from: a SELECT on any SQLAlchemy URL, or files on any fsspec address."""

    source: Literal["sql", "files"] | None = None
    """Which of the two; found from `url` or `files` when not said."""
    url: SecretStr | None = None
    sql: str | None = None
    sql_file: Path | None = None
    files: str | None = None
    """A file, a folder or a pattern: `s3://bucket/stock/*.parquet`, `/data/{vendor}.csv`."""
    file_format: Literal["csv", "parquet"] | None = None
    """Found from the ending when not said."""
    csv_delimiter: str = ","
    """One character, or `tab`."""
    csv_encoding: str = "utf-8-sig"
    columns: dict[str, str] = Field(default_factory=dict)
    """Our name -> the ERP's name, for what is called otherwise there: `{"sku": "item_code", "price": "item_price"}`."""
    constants: dict[str, str] = Field(default_factory=dict)
    """Our name -> a value for all rows, for what the ERP does not say: `{"vendor": "store-001"}`."""
    mapping: str | None = None
    """`package.module:function` or `/path/file.py:function`, DataFrame -> DataFrame, run on each chunk."""
    count_sql: str | None = None
    """A SELECT that returns the true number of rows; without it the proof is a second count of the same SELECT."""
    control_file: str | None = None
    """For files: an address whose text is the true number of rows; with `{vendor}` in it, one file a vendor."""
    chunk_rows: int = Field(50_000, ge=1)
    timeout_s: float = Field(600.0, gt=0)


class NormaliseSettings(_Section):
    """How raw values become canonical ones."""

    quantity_rounding: Literal["floor", "refuse"] = "floor"
    """What happens to 3.4 pieces: `floor` promises only what is there; `refuse` quarantines the row."""
    negative_quantity: Literal["zero", "refuse"] = "zero"
    """A negative stock is a booking that came late: nothing is there to sell."""
    sku_length_max: int = Field(255, ge=1)


class SyncSettings(_Section):
    """The catalog runs."""

    vendors: Annotated[tuple[str, ...], NoDecode] = ()
    """Only these; empty means every vendor of the extract."""
    shard_vendors: int = Field(10, ge=1)
    """Vendors a shard; a shard is one row of mapped tasks in Airflow."""
    shards_max: int = Field(32, ge=1)
    body_bytes_max: int = Field(100_000_000, ge=64)
    """The interface says 100 MB (interface.md 8); a megabyte of the decimal kind is the safe reading."""
    removed_share_max: float = Field(0.3, ge=0, le=1)
    """When more than this share of a vendor's active SKUs is missing from an extract, their deactivation is held."""
    job_deadline_s: float = Field(1800.0, gt=0)
    """A job that has not ended by then is unconfirmed; the next delta settles it by sending the newest values."""
    poll_first_s: float = Field(20.0, gt=0)
    """How long the webhook has before the job is asked about; the wait doubles from there."""
    poll_max_s: float = Field(300.0, gt=0)

    _split = field_validator("vendors", mode="before")(_words)


class BudgetSettings(_Section):
    """The shared request allowance (interface.md 8)."""

    requests_per_minute: int = Field(60, ge=1)
    key: str = Field("egress", min_length=1)
    """What the platform counts by: installations that leave through one address share one key."""
    jitter_s: float = Field(1.2, ge=0.1, le=10)
    """How late a request may reach the platform without slowing the next ones down; costs jitter / (60 + jitter) of the allowance."""
    wait_s_max: float = Field(900.0, gt=0)
    """A request that cannot leave within this time is given back to its caller, to be tried again later."""
    pause_s_max: float = Field(3600.0, gt=0)
    """The longest a single answer of the platform (an absurd Retry-After, say) can stop the installation."""


class WebhookSettings(_Section):
    """The receiver of job and order events (interface.md 5.6 and 6)."""

    secret: SecretStr | None = None
    """Verbatim what stands in the Authorization header of a genuine call; without it every call is refused."""
    secret_previous: SecretStr | None = None
    """Accepted too, while a secret is being changed."""
    host: str = "127.0.0.1"
    port: int = Field(8480, ge=0, le=65535)
    order_bytes_max: int = Field(1 * MIB, ge=1)
    job_bytes_max: int = Field(64 * 1024, ge=1)


class Settings(BaseSettings):
    """All of it. Frozen: read once, handed down by wiring."""

    model_config = SettingsConfigDict(
        env_prefix="SHELFSYNC_", env_nested_delimiter="__", extra="forbid", frozen=True, case_sensitive=False
    )

    home: Path = Path(".shelfsync")
    """The state folder: embedded database, lake, Airflow's home, logs."""
    config: Path | None = None
    database_url: SecretStr | None = None
    """A PostgreSQL for ledger and warehouse; without it one is started from a wheel under `home`."""
    lake_url: str | None = None
    """Any fsspec address; `home`/lake when not said."""
    platform: PlatformSettings = PlatformSettings()
    erp: ErpSettings = ErpSettings()
    normalise: NormaliseSettings = NormaliseSettings()
    sync: SyncSettings = SyncSettings()
    budget: BudgetSettings = BudgetSettings()
    webhook: WebhookSettings = WebhookSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        named = os.environ.get("SHELFSYNC_CONFIG")
        file = Path(named) if named else Path("shelfsync.toml")
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=file))

    @property
    def lake(self) -> str:
        """The lake's address."""
        return self.lake_url or str(self.home.absolute() / "lake")


def read_settings(**overrides: Any) -> Settings:
    """The settings of this process; a ConfigurationError names the first that is wrong, and how it is spelled in the environment."""
    named = os.environ.get("SHELFSYNC_CONFIG")
    if named and not Path(named).is_file():
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"there is no file {named!r}", "Name an existing TOML file or unset it."
        )
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "SHELFSYNC_" + "__".join(str(part).upper() for part in first["loc"])
        remedy = "Correct it in the environment or in the file that SHELFSYNC_CONFIG names."
        raise ConfigurationError(name, first["msg"], remedy) from None
    except ValueError as error:  # a TOML file that does not parse
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"{named or 'shelfsync.toml'} cannot be read: {error}", "Correct the file's syntax."
        ) from None
