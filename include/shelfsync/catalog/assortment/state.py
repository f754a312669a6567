"""The stores that the catalog has, and of each store where its acknowledged, observed and wanted values are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger.observations import Observation
from shelfsync.catalog.ledger.observations import newest as observed
from shelfsync.catalog.ledger.vendor_runs import last_snapshot as last_reading
from shelfsync.catalog.ledger.vendors import current_baseline as acknowledged
from shelfsync.catalog.ledger.vendors import forgotten as forgotten_vendors
from shelfsync.catalog.ledger.vendors import known_vendors
from shelfsync.catalog.ledger.vendors import names as every_vendor
from shelfsync.catalog.warehouse.baseline_history import unmoved

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

__all__ = [
    "Observation",
    "acknowledged",
    "every_vendor",
    "forgotten_vendors",
    "known_vendors",
    "last_reading",
    "observed",
    "unmoved",
    "wanted",
]


def wanted(connection: Connection, vendor: str) -> str | None:
    """Lake: the newest snapshot, of any run that is no plan; None without one."""
    last = last_reading(connection, vendor)
    return None if last is None else last.snapshot_path
