"""All sections together, and where they are read from."""

from __future__ import annotations

import re
import zoneinfo
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from shelfsync.settings.alerts import AlertSettings
from shelfsync.settings.catalog import (
    DriftSettings,
    ExportSettings,
    NormaliseSettings,
    RejectionSettings,
    SuppressionSettings,
    SyncSettings,
    WarehouseSettings,
)
from shelfsync.settings.erp import ErpSettings
from shelfsync.settings.guard_thresholds import GuardSettings
from shelfsync.settings.installation import HousekeepingSettings, LocalSettings, MetricsSettings, WebhookSettings
from shelfsync.settings.orders import OrdersSettings
from shelfsync.settings.platform import PlatformSettings, RateLimitSettings
from shelfsync.settings.port import check_port
from shelfsync.settings.precedence import given_by
from shelfsync.settings.promotions import PromotionSettings
from shelfsync.settings_file import HOME


class Settings(BaseSettings):
    """All settings. Frozen: a process reads them once, and the context has them."""

    model_config = SettingsConfigDict(
        env_prefix="SHELFSYNC_", env_nested_delimiter="__", extra="forbid", frozen=True, case_sensitive=False
    )

    home: Path = HOME
    """The state folder, as a whole path: embedded database, lake, Airflow's home, logs. Unset: `.shelfsync` of the project; from wheels `~/.local/state/shelfsync`."""
    chain: str | None = None
    """Which chain of the installation: the name of a section `[chains.NAME]` of the settings file. `--chain` of a command goes before it."""
    was_alone: bool = False
    """For one chain of several: it keeps the database and the lake of the time when it was the only one."""
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
        return (init_settings, *given_by(settings_cls).sources.values())

    @property
    def lake(self) -> str:
        """The lake's address."""
        return self.lake_url or str(self.home.absolute() / "lake")

    @property
    def place_of_its_own(self) -> str | None:
        """The chain behind the names of its database and its folder of the lake; None: it has those of the installation."""
        return None if self.was_alone else self.chain
