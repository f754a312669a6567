"""What the steps work with, in one place; `wiring` fills it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Engine

    from partner_api import PartnerClient
    from shelfsync.clock import Clock
    from shelfsync.erp.source import ErpSource
    from shelfsync.lake.store import Lake
    from shelfsync.settings import Settings


@dataclass(frozen=True)
class Parts:
    """Database, lake, and what is only made when a step asks for it: the ERP and the platform's client."""

    settings: Settings
    engine: Engine
    lake: Lake
    clock: Clock
    open_erp: Callable[[], ErpSource]
    open_platform: Callable[[], PartnerClient]
