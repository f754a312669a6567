"""When the next request may be sent: slots at equal distances, on the database's clock. Which request it is: `next_request`.

Two rules, the stricter binds:
- Slots are so far apart that jitter on the way slows no later request (`jitter`). This is what paces.
- A request may arrive much later than its slot: a process that starts, a busy machine, a slow network. By when it had arrived
  at the latest is known once its answer is there. A slot is given only when fewer than `limit` requests can have arrived in
  the window before it. This holds without any assumption on speed, as long as a request that was never answered arrived
  within `ARRIVAL_S_MAX` or not at all.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from shelfsync.platform.rate_limit import jitter

ARRIVAL_S_MAX = 30.0
"""A request without an answer has arrived after this, or never will: the client's own timeout of a connection."""
LOOKAHEAD = dt.timedelta(seconds=0.5)
"""How long before a slot it may be promised to a request. Hides round trips and late wake-ups; a more urgent request that
comes in between waits one slot more, and a holder that dies loses one."""


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `limit` requests in any `window_s`; `jitter_s`: how late each may be without slowing the next ones down."""

    limit: int
    window_s: float = 60.0
    jitter_s: float = 1.2

    @property
    def spacing(self) -> dt.timedelta:
        """The distance of two slots."""
        return jitter.spacing(self.limit, self.window_s, self.jitter_s)

    @property
    def memory(self) -> dt.timedelta:
        """How long a request that arrived in time matters to those after it."""
        return jitter.memory(self.window_s, self.jitter_s)

    @property
    def late_s_max(self) -> float:
        """A holder that wakes up later than this after its slot has lost it."""
        return jitter.late_s_max(self.jitter_s)


def next_slot(
    rate: Rate,
    now: dt.datetime,
    *,
    free_at: dt.datetime | None,
    paused_until: dt.datetime | None,
    nth_arrival: dt.datetime | None,
) -> dt.datetime:
    """The earliest slot that no request holds.

    `free_at`: one spacing after the last slot given. `nth_arrival`: of the instants by which each request had arrived at the
    latest, the `limit`-th from the end; a window after it, that request is out of the way.
    """
    bounds = [now]
    if free_at is not None:
        bounds.append(free_at)
    if paused_until is not None:
        bounds.append(paused_until)
    if nth_arrival is not None:
        bounds.append(nth_arrival + dt.timedelta(seconds=rate.window_s))
    return max(bounds)


def clock_was_set(elapsed: dt.timedelta, *, least_s: float, most_s: float) -> bool:
    """True when the database's clock went on by something else than the time that passed.

    `least_s`, `most_s`: how long it was at least and at most, because each reading came at some instant of its round trip: however
    slow that was, or this process, it is no setting. Nor is slewing (up to 0.05 %).
    """
    slew_s = 0.5 + 0.001 * max(most_s, 0.0)
    return not least_s - slew_s <= elapsed.total_seconds() <= most_s + slew_s
