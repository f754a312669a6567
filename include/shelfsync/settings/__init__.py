"""Every setting, read once: environment first, then the file named by SHELFSYNC_CONFIG (or shelfsync.toml in the state folder), then the default.

A setting `platform.chain` is `SHELFSYNC_PLATFORM__CHAIN` in the environment and `chain` under `[platform]` in the file.
Secrets are `SecretStr`: they do not show in a repr, a log or a dump.
"""

from __future__ import annotations

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
from shelfsync.settings.reading import read_settings
from shelfsync.settings.rejection import RejectionSettings
from shelfsync.settings.settings import Settings
from shelfsync.settings.sync import SyncSettings
from shelfsync.settings.webhook import WebhookSettings

__all__ = [
    "BudgetSettings",
    "DriftSettings",
    "EffectSettings",
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
    "RejectionSettings",
    "Settings",
    "SyncSettings",
    "WarehouseSettings",
    "WebhookSettings",
    "read_settings",
]
