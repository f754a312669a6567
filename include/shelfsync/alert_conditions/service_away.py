"""Alerts `platform_away` and `erp_away`: since when a service that does not answer counts as away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync import display, outages
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


ERP_AWAY_S = 60.0
"""An ERP that does not answer is away from so many seconds after the failed reading."""
_AWAY = {outages.PLATFORM: "platform_away", outages.ERP: "erp_away", outages.PROMOTIONS: "erp_away"}


def service_away(_: Context, connection: Connection) -> Found:
    """Services without an answer, once their outage is one that a repeat did not heal."""
    return {
        (_AWAY[row["service"]], "" if row["service"] in {outages.PLATFORM, outages.ERP} else row["service"]): (
            f"the {row['service']} does not answer since {display.instant(row['began_at'])}: {row['error']}"
        )
        for row in outages.since(connection, instant())
        if row["ended_at"] is None and _is_lasting(row)
    }


def _is_lasting(outage: Mapping[str, Any]) -> bool:
    """Of the platform, which the watch asks itself: a repeat failed too. Others are asked by their next reading alone."""
    if outage["service"] == outages.PLATFORM:
        return bool((outage["failed_at"] - outage["began_at"]).total_seconds() >= outages.SHOWN_FROM_S)
    return bool(outage["lasted_s"] >= ERP_AWAY_S)
