"""Alerts `rejected` and `drift_returns`: products that the platform rejects for good, or whose value it does not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.alert_conditions import Growing
from shelfsync.catalog.ledger import rejections

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def rejected(_: Context, connection: Connection) -> Found:
    """Products that the platform rejects for good, and those whose value it does not keep; each new one is reported."""
    found = {}
    for drifted, those in rejections.for_good(connection).items():
        line = (
            f"the platform shows other values than it accepted for {those.skus:,} SKUs, again and again"
            if drifted
            else f"the platform rejects {those.skus:,} SKUs, {those.of_reason:,} of them with: {those.reason} (`shelfsync rejections list`)"
        )
        found["drift_returns" if drifted else "rejected", ""] = Growing(line, those.newest_job)
    return found
