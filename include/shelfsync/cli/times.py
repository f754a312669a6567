"""Times and durations as a person types them on the command line."""

from __future__ import annotations

import datetime as dt
import re

import typer

from shelfsync import display
from shelfsync.explain.explanation import asked_instant

_DURATION_MAX = dt.timedelta(days=3650)
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}


def read_instant(text: str) -> dt.datetime:
    """An ISO instant, in UTC; of the chain's zone where no offset is given."""
    from shelfsync.settings import read_settings

    zone = read_settings().time_zone
    try:
        return display.read_instant(text, zone)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_past(text: str) -> dt.datetime:
    """The end of a past instant, in UTC: see `asked_instant`."""
    from shelfsync.settings import read_settings

    zone = read_settings().time_zone
    try:
        return asked_instant(text, zone)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_duration(text: str) -> dt.timedelta:
    """`90m`, `4h`, `2d`; ten years at most."""
    found = re.fullmatch(r"\s*(\d{1,7})\s*(m|min|h|d)\s*", text)
    duration = dt.timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None
    if duration is None or duration > _DURATION_MAX:
        raise typer.BadParameter(f"{text!r} is no duration of at most {_DURATION_MAX.days}d; write 90m, 4h or 2d")
    return duration
