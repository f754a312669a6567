"""When a campaign begins and ends: its dates and times as the ERP writes them, read in a zone, and its window as a person reads it."""

from __future__ import annotations

import datetime as dt
import json
import zoneinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.settings import PromotionSettings


class FaultyError(Exception):
    """A value of a campaign's head that cannot be used: its field, a stable keyword, a sentence."""

    def __init__(self, field: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.field, self.reason, self.message = field, reason, message


def read_time(
    field: str,
    texts: Mapping[str, str | None],
    settings: PromotionSettings,
    zone: zoneinfo.ZoneInfo,
    moved: list[str],
) -> dt.datetime:
    """ISO 8601; without a zone it is of this one. Cut to milliseconds. `moved` gets a time that the zone has not, or twice.

    A date alone begins with that day. If it is an end, a setting says whether the day belongs to the campaign.
    """
    text = stripped(texts.get(field))
    if text is None:
        raise FaultyError(field, f"{field}_missing", f"{field} is missing")
    day = _is_date(text)
    if day and field == "end_time" and settings.end_dates is None:
        raise FaultyError(
            field,
            f"{field}_without_time",
            f"{field} {shown(text)} has no time of day, so it is unclear whether the day itself is included (SHELFSYNC_PROMOTIONS__END_DATES)",
        )
    try:
        when = dt.datetime.fromisoformat(text)
        if day and field == "end_time" and settings.end_dates == "whole_day":
            when += dt.timedelta(days=1)
        if when.tzinfo is None:
            if (note := _clock_changes(when, zone)) is not None:
                moved.append(f"{field} {shown(text)} {note}")
            when = when.replace(tzinfo=zone)
        when = when.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise FaultyError(
            field, f"{field}_not_a_time", f"{field} {shown(text)} is no ISO 8601 date-time, such as 2027-03-07T08:00"
        ) from None
    return when.replace(microsecond=when.microsecond // 1000 * 1000)


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _clock_changes(when: dt.datetime, zone: zoneinfo.ZoneInfo) -> str | None:
    """What a change of the clock makes of a time of day without a zone; None: the zone has it once."""
    first, second = (when.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return None
    taken = first.astimezone(dt.UTC).astimezone(zone)
    if taken.replace(tzinfo=None) != when:
        return f"is no time in {zone.key}, where the clock skips it: {taken:%H:%M} is taken"
    return f"comes twice in {zone.key}, where the clock is set back: the first is taken"


def minutes(start: dt.datetime, end: dt.datetime, zone: str) -> str:
    """The first and the last minute of a window in a zone, for a person; in UTC where the year 9999 ends before the zone's."""
    last = max(start, end - dt.timedelta(milliseconds=1))
    try:
        first, last = (when.astimezone(zoneinfo.ZoneInfo(zone)) for when in (start, last))
    except OverflowError:
        return minutes(start, end, "UTC")
    return f"first minute {first:%Y-%m-%d %H:%M}, last minute {last:%Y-%m-%d %H:%M} {zone}"


def stripped(value: str | None) -> str | None:
    """The text without the spaces around it; None if nothing is left."""
    return (value or "").strip() or None


def shown(value: str) -> str:
    """The beginning of a text, for a message."""
    return json.dumps(value[:80], ensure_ascii=True) + ("…" if len(value) > 80 else "")
