"""Opening hours of the stores: since when they are open."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from shelfsync.alerts.wall_clock import DAY, is_between, when_shown

if TYPE_CHECKING:
    from shelfsync.settings.alerts import AlertSettings

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def opened_at(hours: AlertSettings, at: dt.datetime, zone: str) -> dt.datetime | None:
    """Since when the stores are open at that instant; None: they are closed. Without opening hours: since ever."""
    if hours.open_from is None or hours.open_to is None:
        return dt.datetime.min.replace(tzinfo=dt.UTC)
    local = at.astimezone(ZoneInfo(zone))
    day = local.date() if hours.open_from <= local.time() else local.date() - DAY
    if not is_between(hours.open_from, local, hours.open_to) or DAYS[day.weekday()] not in hours.open_days:
        return None
    return when_shown(hours.open_from, day, zone)[0]
