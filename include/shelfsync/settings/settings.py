"""All sections together, and where they are read from."""

from __future__ import annotations

import os
import re
import zoneinfo
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from shelfsync.settings.alerts import AlertSettings
from shelfsync.settings.catalog import (
    DriftSettings,
    ExportSettings,
    GuardSettings,
    NormaliseSettings,
    RejectionSettings,
    SuppressionSettings,
    SyncSettings,
    WarehouseSettings,
)
from shelfsync.settings.chains import chain_in_use, variables_of
from shelfsync.settings.erp import ErpSettings
from shelfsync.settings.installation import HousekeepingSettings, LocalSettings, MetricsSettings, WebhookSettings
from shelfsync.settings.orders import OrdersSettings
from shelfsync.settings.platform import PlatformSettings, RateLimitSettings
from shelfsync.settings.port import check_port
from shelfsync.settings.promotions import PromotionSettings

PROJECT = Path(__file__).resolve().parents[3]
"""The folder of dags/, plugins/ and include/; the project is installed in place, on a machine as in the image."""


def _default_home() -> Path:
    """`.shelfsync` of the project, from whatever folder a command is started; without a project, a folder of the user."""
    if (PROJECT / "pyproject.toml").is_file():
        return PROJECT / ".shelfsync"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "shelfsync"


HOME = _default_home()
FILE = "shelfsync.toml"


def config_file() -> Path:
    """The file that SHELFSYNC_CONFIG names, or the one in the state folder. Never one of the current folder, which any user may have written."""
    named = os.environ.get("SHELFSYNC_CONFIG")
    return Path(named) if named else Path(os.environ.get("SHELFSYNC_HOME") or HOME) / FILE


class Settings(BaseSettings):
    """All settings. Frozen: a process reads them once, and the context has them."""

    model_config = SettingsConfigDict(
        env_prefix="SHELFSYNC_", env_nested_delimiter="__", extra="forbid", frozen=True, case_sensitive=False
    )

    home: Path = HOME
    """The state folder, as a whole path: embedded database, lake, Airflow's home, logs. Unset: `.shelfsync` of the project."""
    chain: str | None = None
    """Which chain of the installation: the name of a section `[chains.NAME]` of the settings file. `--chain` of a command goes before it."""
    config: Path | None = None
    """The TOML file with settings; unset: `shelfsync.toml` in the state folder."""
    database_url: SecretStr | None = None
    """The PostgreSQL of ledger and warehouse. If unset, shelfsync starts one from a wheel under `home`."""
    lake_url: str | None = None
    """Any fsspec address; unset: `home`/lake."""
    time_zone: str = "UTC"
    """The chain's time zone, a name like Europe/Berlin: of times that carry none, and of every time that is shown to people. JSON is in UTC."""
    currency: str | None = None
    """The currency of prices, as people see them: its code (ISO 4217), such as EUR. It sets the digits too. Unset: prices are bare numbers."""
    log_format: Literal["text", "json"] = "text"
    """Format of the log of the command line and the webhook receiver: text, or one JSON object a line."""
    platform: PlatformSettings = PlatformSettings()
    erp: ErpSettings = ErpSettings()
    normalise: NormaliseSettings = NormaliseSettings()
    sync: SyncSettings = SyncSettings()
    suppression: SuppressionSettings = SuppressionSettings()
    guards: GuardSettings = GuardSettings()
    rate_limit: RateLimitSettings = RateLimitSettings()
    metrics: MetricsSettings = MetricsSettings()
    rejection: RejectionSettings = RejectionSettings()
    webhook: WebhookSettings = WebhookSettings()
    housekeeping: HousekeepingSettings = HousekeepingSettings()
    orders: OrdersSettings = OrdersSettings()
    export: ExportSettings = ExportSettings()
    drift: DriftSettings = DriftSettings()
    warehouse: WarehouseSettings = WarehouseSettings()
    alerts: AlertSettings = AlertSettings()
    promotions: PromotionSettings = PromotionSettings()
    local: LocalSettings = LocalSettings()

    @field_validator("database_url", "lake_url")
    @classmethod
    def _with_a_port(cls, value: Any, info: ValidationInfo) -> Any:
        return check_port(str(info.field_name), value)

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            zoneinfo.ZoneInfo(name)
        except (KeyError, ValueError, OSError):  # unknown, no name at all, a folder of zones
            raise PydanticCustomError(
                "unknown_time_zone",
                "{name} is no time zone; write a name like Europe/Berlin or UTC",
                {"name": repr(name)},
            ) from None
        return name

    @field_validator("currency")
    @classmethod
    def _code(cls, code: str | None) -> str | None:
        if code is not None and re.fullmatch(r"[A-Z]{3}", code) is None:
            raise PydanticCustomError(
                "no_currency_code",
                "{code} is no code of a currency; write three capitals like EUR",
                {"code": repr(code)},
            )
        return code

    @field_validator("home")
    @classmethod
    def _whole(cls, home: Path) -> Path:
        """A relative path would be another folder for each current folder: another ledger, and another baseline."""
        if not home.is_absolute():
            raise PydanticCustomError(
                "relative_home",
                "{home} is a relative path, so each current folder would have a ledger of its own; write {whole}",
                {"home": repr(str(home)), "whole": str(home.expanduser().absolute())},
            )
        return home

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, *given_by(settings_cls).values())

    @property
    def lake(self) -> str:
        """The lake's address; each chain has a folder of it."""
        whole = self.lake_url or str(self.home.absolute() / "lake")
        return whole if self.chain is None else f"{whole.rstrip('/')}/{self.chain}"


def chains_of_file() -> dict[str, Any]:
    """What the settings file has under `chains`, by name."""
    sections = TomlConfigSettingsSource(Settings, toml_file=config_file()).toml_data.get("chains", {})
    return sections if isinstance(sections, dict) else {}


def given_by(settings_cls: type[BaseSettings]) -> dict[str, PydanticBaseSettingsSource]:
    """Where settings are given, by its name for people. What is given for the chain alone goes before what all chains share."""
    file, chain = config_file(), chain_in_use()
    shared = dict(TomlConfigSettingsSource(settings_cls, toml_file=file).toml_data)
    sections = shared.pop("chains", {})
    of_chain = sections.get(chain, {}) if isinstance(sections, dict) and chain is not None else {}
    found: dict[str, PydanticBaseSettingsSource] = {}
    if chain is not None:
        found["environment of the chain"] = EnvSettingsSource(settings_cls, env_prefix=variables_of(chain))
        found[f"file {file}, [chains.{chain}]"] = InitSettingsSource(settings_cls, of_chain)
    found["environment"] = EnvSettingsSource(settings_cls)
    found[f"file {file}"] = InitSettingsSource(settings_cls, shared)
    return found
