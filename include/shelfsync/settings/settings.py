"""All sections together, and how they are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from shelfsync.settings.budget import BudgetSettings
from shelfsync.settings.effect import EffectSettings
from shelfsync.settings.erp import ErpSettings
from shelfsync.settings.export import DriftSettings, ExportSettings, WarehouseSettings
from shelfsync.settings.guards import GuardSettings
from shelfsync.settings.housekeeping import HousekeepingSettings
from shelfsync.settings.local import LocalSettings
from shelfsync.settings.metrics import MetricsSettings
from shelfsync.settings.normalise import NormaliseSettings
from shelfsync.settings.orders import OrdersSettings
from shelfsync.settings.platform import PlatformSettings
from shelfsync.settings.promotions import PromotionSettings
from shelfsync.settings.rejection import RejectionSettings
from shelfsync.settings.sync import SyncSettings
from shelfsync.settings.webhook import WebhookSettings

HOME = Path(".shelfsync")
FILE = "shelfsync.toml"


def config_file() -> Path:
    """The file that SHELFSYNC_CONFIG names, or the one in the state folder. Never one of the current folder: it may be anybody's."""
    named = os.environ.get("SHELFSYNC_CONFIG")
    return Path(named) if named else Path(os.environ.get("SHELFSYNC_HOME") or HOME) / FILE


class Settings(BaseSettings):
    """All of it. Frozen: read once, handed down by wiring."""

    model_config = SettingsConfigDict(
        env_prefix="SHELFSYNC_", env_nested_delimiter="__", extra="forbid", frozen=True, case_sensitive=False
    )

    home: Path = HOME
    """The state folder: embedded database, lake, Airflow's home, logs."""
    config: Path | None = None
    database_url: SecretStr | None = None
    """A PostgreSQL for ledger and warehouse; without it one is started from a wheel under `home`."""
    lake_url: str | None = None
    """Any fsspec address; `home`/lake when not said."""
    log_format: Literal["text", "json"] = "text"
    """How the command line and the webhook receiver log: lines for people, or one JSON object a line."""
    platform: PlatformSettings = PlatformSettings()
    erp: ErpSettings = ErpSettings()
    normalise: NormaliseSettings = NormaliseSettings()
    sync: SyncSettings = SyncSettings()
    effect: EffectSettings = EffectSettings()
    guards: GuardSettings = GuardSettings()
    budget: BudgetSettings = BudgetSettings()
    metrics: MetricsSettings = MetricsSettings()
    rejection: RejectionSettings = RejectionSettings()
    webhook: WebhookSettings = WebhookSettings()
    housekeeping: HousekeepingSettings = HousekeepingSettings()
    orders: OrdersSettings = OrdersSettings()
    export: ExportSettings = ExportSettings()
    drift: DriftSettings = DriftSettings()
    warehouse: WarehouseSettings = WarehouseSettings()
    promotions: PromotionSettings = PromotionSettings()
    local: LocalSettings = LocalSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=config_file()))

    @property
    def lake(self) -> str:
        """The lake's address."""
        return self.lake_url or str(self.home.absolute() / "lake")
