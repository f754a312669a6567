"""Times of the day: when a route takes a message, and since when the stores are open."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from shelfsync.settings import AlertRoute
    from shelfsync.settings.alerts import AlertSettings

_DAY = dt.timedelta(days=1)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def due(route: AlertRoute, at: dt.datetime, zone: str, *, opened_at: dt.datetime | None = None) -> dt.datetime:
    """The first instant from `at` on at which the route takes a message. `zone`: that of its times of the day.

    `opened_at`: the message is about an alert that opened then; an escalation waits whether a person acknowledges it.
    """
    if opened_at is not None:
        at = max(opened_at + dt.timedelta(minutes=route.unacknowledged_minutes), at)
    if route.digest_at is not None:
        return _next(route.digest_at, at, zone)
    begin, end = route.quiet_from, route.quiet_to
    while begin is not None and end is not None and _is_between(begin, at.astimezone(ZoneInfo(zone)), end):
        at = _next(end, at + dt.timedelta.resolution, zone)
    return at


def opened_at(hours: AlertSettings, at: dt.datetime, zone: str) -> dt.datetime | None:
    """Since when the stores are open at that instant; None: they are closed. Without opening hours: since ever."""
    if hours.open_from is None or hours.open_to is None:
        return dt.datetime.min.replace(tzinfo=dt.UTC)
    local = at.astimezone(ZoneInfo(zone))
    day = local.date() if hours.open_from <= local.time() else local.date() - _DAY
    if not _is_between(hours.open_from, local, hours.open_to) or DAYS[day.weekday()] not in hours.open_days:
        return None
    return _shown(hours.open_from, day, zone)[0]


def _is_between(begin: dt.time, local: dt.datetime, end: dt.time) -> bool:
    clock = local.time()
    return begin <= clock < end if begin <= end else clock >= begin or clock < end


def _next(clock: dt.time, at: dt.datetime, zone: str) -> dt.datetime:
    """The first instant from `at` on at which the clock on the wall shows that time."""
    today = at.astimezone(ZoneInfo(zone)).date()
    return min(one for days in range(3) for one in _shown(clock, today + days * _DAY, zone) if one >= at)


def _shown(clock: dt.time, day: dt.date, zone: str) -> list[dt.datetime]:
    """When the clock on the wall shows that time of that day: twice in an hour that is repeated; when it goes on, if it skips that time."""
    wall = dt.datetime.combine(day, clock)
    while True:
        both = {wall.replace(fold=fold, tzinfo=ZoneInfo(zone)).astimezone(dt.UTC) for fold in (0, 1)}
        found = sorted(one for one in both if one.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0) == wall)
        if found:
            return found
        wall += dt.timedelta(minutes=1)
