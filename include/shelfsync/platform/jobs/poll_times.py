"""When the platform is asked about an open job: first soon, then after twice the time each, until the job's deadline."""

from __future__ import annotations

from dataclasses import dataclass

from shelfsync.back_off import back_off_s


@dataclass(frozen=True)
class PollTimes:
    """Seconds: until the first poll, at most between two, and until waiting ends. Each pause is twice the one before."""

    first_s: float
    max_s: float
    deadline_s: float

    def pause_s(self, polls: int) -> float:
        """How long to wait after so many polls."""
        return back_off_s(polls + 2, self.first_s, self.max_s)
