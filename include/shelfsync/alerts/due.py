"""When a route takes a message: at once, at the end of its quiet hours, or with its daily digest."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from shelfsync.settings import AlertRoute


def due(route: AlertRoute, at: dt.datetime, zone: str) -> dt.datetime:
    """The first instant from `at` on at which the route takes a message. `zone`: that of its times of the day."""
    local = at.astimezone(ZoneInfo(zone))
    if route.digest_at is not None:
        return _next(local, route.digest_at)
    if (
        route.quiet_from is not None
        and route.quiet_to is not None
        and _is_quiet(route.quiet_from, local, route.quiet_to)
    ):
        return _next(local, route.quiet_to)
    return at


def _is_quiet(begin: dt.time, local: dt.datetime, end: dt.time) -> bool:
    clock = local.time()
    return begin <= clock < end if begin <= end else clock >= begin or clock < end


def _next(local: dt.datetime, clock: dt.time) -> dt.datetime:
    """The next time that the clock on the wall shows this, as an instant."""
    then = local.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0, fold=0)
    if then < local:
        then = (then.replace(tzinfo=None) + dt.timedelta(days=1)).replace(tzinfo=local.tzinfo)
    return then.astimezone(dt.UTC)
