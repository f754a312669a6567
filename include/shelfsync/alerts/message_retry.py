"""When a message that its route refused is sent again, how often as it was, and when the other routes report that this one is away."""

from __future__ import annotations

from shelfsync.back_off import back_off_s

AGAIN_S, AGAIN_MAX_S = 30.0, 3600.0
"""The first and the longest wait before a refused message is sent again."""
KEPT_TRIES = 5
"""So often a message that may have arrived is tried as it was. Then its alerts go with all else that is due, named a possible repeat; those of
a pager go as their incident."""
AWAY_AFTER = 2
"""After so many refusals the other routes report that this one is away."""


def again_after_s(refusals: int) -> float:
    """Seconds until the message is sent again, after so many consecutive refusals of its route."""
    return back_off_s(refusals, AGAIN_S, AGAIN_MAX_S)


def is_kept(refusals: int) -> bool:
    """Whether a message that may have arrived is tried once more as it was."""
    return refusals < KEPT_TRIES
