"""Times of the day as a clock on the wall of a zone shows them, also in the hour that is repeated or skipped."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

DAY = dt.timedelta(days=1)


def is_between(begin: dt.time, local: dt.datetime, end: dt.time) -> bool:
    clock = local.time()
    return begin <= clock < end if begin <= end else clock >= begin or clock < end


def next_shown(clock: dt.time, at: dt.datetime, zone: str) -> dt.datetime:
    """The first instant from `at` on at which the clock on the wall shows that time."""
    today = at.astimezone(ZoneInfo(zone)).date()
    return min(one for days in range(3) for one in when_shown(clock, today + days * DAY, zone) if one >= at)


def when_shown(clock: dt.time, day: dt.date, zone: str) -> list[dt.datetime]:
    """When the clock on the wall shows that time of that day: twice in an hour that is repeated; when it goes on, if it skips that time."""
    wall = dt.datetime.combine(day, clock)
    while True:
        both = {wall.replace(fold=fold, tzinfo=ZoneInfo(zone)).astimezone(dt.UTC) for fold in (0, 1)}
        found = sorted(one for one in both if one.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0) == wall)
        if found:
            return found
        wall += dt.timedelta(minutes=1)
