"""When an unconfirmed campaign is tried again: the pause depends on how many requests in a row have failed."""

from __future__ import annotations

from shelfsync.back_off import back_off_s

_BACKOFF_S, _BACKOFF_MAX_S = 600.0, 86_400.0


def pause_s(failures: int) -> float:
    """Seconds until the next attempt after so many failed requests in a row: ten minutes, twice as long each time, at most a day."""
    return back_off_s(failures, _BACKOFF_S, _BACKOFF_MAX_S)
