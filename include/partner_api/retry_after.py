"""The wait that an answer asks for: Retry-After as seconds or as a date."""

from __future__ import annotations

import datetime as dt
import email.utils
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partner_api.sender import Answer
    from partner_api.session import Session


_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse(value: str | None, *, date: str | None, now: dt.datetime, max_s: float) -> float | None:
    """Seconds to wait, between 0 and `max_s`; None when absent, negative or not understood.

    A date is compared with the answer's own `Date`, not with this machine's clock, which may be wrong (I17).
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


def retry_after_s(answer: Answer, session: Session) -> float | None:
    """The wait in seconds that an answer asks for, or None."""
    headers, max_s = answer.headers, session.dialect.retry_after_max_s
    return parse(headers.get("retry-after"), date=headers.get("date"), now=session.clock.now(), max_s=max_s)
