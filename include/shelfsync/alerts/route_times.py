"""When a route takes a message: quiet hours, a digest once a day, and an escalation after its minutes."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from shelfsync.alerts.wall_clock import is_between, next_shown

if TYPE_CHECKING:
    from shelfsync.settings import AlertRoute


def due(route: AlertRoute, at: dt.datetime, zone: str, *, opened_at: dt.datetime | None = None) -> dt.datetime:
    """The first instant from `at` on at which the route takes a message. `zone`: that of its times of the day.

    `opened_at`: the message is about an alert that opened then; an escalation waits whether a person acknowledges it.
    """
    if opened_at is not None:
        at = max(opened_at + dt.timedelta(minutes=route.unacknowledged_minutes), at)
    if route.digest_at is not None:
        return next_shown(route.digest_at, at, zone)
    begin, end = route.quiet_from, route.quiet_to
    while begin is not None and end is not None and is_between(begin, at.astimezone(ZoneInfo(zone)), end):
        at = next_shown(end, at + dt.timedelta.resolution, zone)
    return at
