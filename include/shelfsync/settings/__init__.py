"""Every setting, read once: environment first, then the file named by SHELFSYNC_CONFIG (or shelfsync.toml in the state folder), then the default.

A setting `platform.chain` is `SHELFSYNC_PLATFORM__CHAIN` in the environment and `chain` under `[platform]` in the file.
Secrets are `SecretStr`: they do not show in a repr, a log or a dump.
"""

from __future__ import annotations

from shelfsync.settings.alerts import AlertRoute, AlertSettings
from shelfsync.settings.catalog import (
    DriftSettings,
    ExportSettings,
    NormaliseSettings,
    RejectionSettings,
    SuppressionSettings,
    SyncSettings,
    WarehouseSettings,
)
from shelfsync.settings.erp import ErpSettings, SourceSettings
from shelfsync.settings.guard_thresholds import GuardSettings
from shelfsync.settings.installation import HousekeepingSettings, LocalSettings, MetricsSettings, WebhookSettings
from shelfsync.settings.orders import OrdersSettings
from shelfsync.settings.platform import PlatformSettings, RateLimitSettings
from shelfsync.settings.promotions import PromotionSettings
from shelfsync.settings.reading import read_settings
from shelfsync.settings.settings import Settings

__all__ = [
    "AlertRoute",
    "AlertSettings",
    "DriftSettings",
    "ErpSettings",
    "ExportSettings",
    "GuardSettings",
    "HousekeepingSettings",
    "LocalSettings",
    "MetricsSettings",
    "NormaliseSettings",
    "OrdersSettings",
    "PlatformSettings",
    "PromotionSettings",
    "RateLimitSettings",
    "RejectionSettings",
    "Settings",
    "SourceSettings",
    "SuppressionSettings",
    "SyncSettings",
    "WarehouseSettings",
    "WebhookSettings",
    "read_settings",
]
