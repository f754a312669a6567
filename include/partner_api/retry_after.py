"""`Retry-After` in every form it comes in."""

from __future__ import annotations

import datetime as dt
import email.utils
import re

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse(value: str | None, *, date: str | None, now: dt.datetime, max_s: float) -> float | None:
    """Seconds to wait, between 0 and `max_s`; None when absent, negative or not understood.

    A date is compared with the answer's own `Date`, not with our clock, which may be off (I17).
    """
    text = (value or "").strip()
    if not text:
        return None
    if _SECONDS.fullmatch(text):
        return min(float(text), max_s)
    then = _instant(text)
    if then is None:
        return None
    since = _instant(date or "") or now
    return min(max((then - since).total_seconds(), 0.0), max_s)


def _instant(text: str) -> dt.datetime | None:
    try:
        parsed = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)
