"""Until when a delta may wait for its jobs, so that the next one begins in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import runs
from shelfsync.store.engine import reached

if TYPE_CHECKING:
    from shelfsync.context import Context

WAIT_S = 60.0
"""How long a run of the watch waits for its jobs, and any delta at least. The next run recovers a job that is still open, and no other vendor
waits for it."""


def wait_s(context: Context, run_id: int, *, watching: bool) -> float | None:
    """How long a run waits for its jobs where the next one begins after its end: a delta until the next is due, or `watching` for WAIT_S.

    So a job that never ends keeps no other vendor from the next delta (I10). None: until the jobs' deadline, for every other run.
    """
    with reached(context.engine) as connection:
        left = runs.next_delta_s(connection, run_id, every_s=context.settings.sync.delta_interval_s)
    if left is None:
        return None
    return WAIT_S if watching else max(WAIT_S, left)
