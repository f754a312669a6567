"""Times of the day: when a route takes a message, and since when the stores are open."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from shelfsync.settings import AlertRoute
    from shelfsync.settings.alerts import AlertSettings

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def due(route: AlertRoute, at: dt.datetime, zone: str, *, opened_at: dt.datetime | None = None) -> dt.datetime:
    """The first instant from `at` on at which the route takes a message. `zone`: that of its times of the day.

    `opened_at`: the message is about an alert that opened then; an escalation waits whether a person acknowledges it.
    """
    if opened_at is not None:
        at = max(opened_at + dt.timedelta(minutes=route.unacknowledged_minutes), at)
    local = at.astimezone(ZoneInfo(zone))
    if route.digest_at is not None:
        return _next(local, route.digest_at)
    if (
        route.quiet_from is not None
        and route.quiet_to is not None
        and _is_between(route.quiet_from, local, route.quiet_to)
    ):
        return _next(local, route.quiet_to)
    return at


def opened_at(hours: AlertSettings, at: dt.datetime, zone: str) -> dt.datetime | None:
    """Since when the stores are open at that instant; None: they are closed. Without opening hours: since ever."""
    if hours.open_from is None or hours.open_to is None:
        return dt.datetime.min.replace(tzinfo=dt.UTC)
    local = at.astimezone(ZoneInfo(zone))
    begun = _at(hours.open_from, local, days=0 if hours.open_from <= local.time() else -1)
    if not _is_between(hours.open_from, local, hours.open_to) or DAYS[begun.weekday()] not in hours.open_days:
        return None
    return begun.astimezone(dt.UTC)


def _is_between(begin: dt.time, local: dt.datetime, end: dt.time) -> bool:
    clock = local.time()
    return begin <= clock < end if begin <= end else clock >= begin or clock < end


def _next(local: dt.datetime, clock: dt.time) -> dt.datetime:
    """The next time that the clock on the wall shows this, as an instant."""
    then = _at(clock, local)
    return (then if then >= local else _at(clock, local, days=1)).astimezone(dt.UTC)


def _at(clock: dt.time, local: dt.datetime, *, days: int = 0) -> dt.datetime:
    """That time of the same day, or of one so many days later."""
    day = local.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0, fold=0)
    return (day.replace(tzinfo=None) + dt.timedelta(days=days)).replace(tzinfo=local.tzinfo)
