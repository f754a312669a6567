"""Waiting for jobs: it holds no worker and sends nothing, and every event that ends the wait is durable.

A wait may be stopped and started again at any time and place: it only reads tables, and polls a job when its next poll is due.
"""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from partner_api.errors import ThrottledError, UnavailableError
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.platform.jobs.job_event import received_of
from shelfsync.platform.jobs.poll import Report, known, poll, postpone
from shelfsync.platform.jobs.table import Kind, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from shelfsync.context import Context
    from shelfsync.platform.jobs.absent_status_call import StatusCalls
    from shelfsync.platform.jobs.job import Job

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 10.0
"""How often the tables are read when no notification comes; between two readings the wait polls by the times that it knows."""
GRACE_S = 60.0


async def until_ended(
    context: Context,
    kind: Kind,
    run: int | str,
    vendors: Iterable[str] = (),
    progress: Callable[[str, int, int], None] = lambda *_: None,
    *,
    wait_s: float | None = None,
) -> dict[str, Any]:
    """Ends when no job of this kind, run and vendors is worth waiting for: each has ended, or its deadline has passed, or `wait_s`.

    Returns counts only, `{"ended": n, "left": n}`; the next step reads the ledger.
    """
    deadline_s = context.kinds[kind].pace(context.settings).deadline_s if wait_s is None else wait_s - GRACE_S
    find_left = partial(waiting, context, kind, run, list(vendors))
    return await until_none(context, find_left, deadline_s=deadline_s, progress=progress)


async def until_none(
    context: Context,
    find_left: Callable[[], Sequence[Job]],
    *,
    deadline_s: float,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """Ends when `find_left` finds nothing more, or some time after the deadline; whatever is due is polled.

    `find_left` is called on a thread and reads the database; `{"ended": n, "left": n}`. Whatever it raises, the tables are read again,
    and the deadline ends the wait. Time is `context.clock` and the pauses of `context.subscribed`.
    """
    clock = context.clock
    end_s = clock.monotonic_s() + deadline_s + GRACE_S
    seen = 0
    async with context.subscribed() as subscription:
        while True:
            subscription.look()
            left = await asyncio.to_thread(_found, find_left)
            seen = max(seen, len(left or ()))
            if left == [] or clock.monotonic_s() >= end_s:
                progress("wait", seen - len(left or ()), seen)
                return {"ended": seen - len(left or ()), "left": len(left or ())}
            polling, numbers = _Polling(context, left or ()), _numbers_of(left)
            while not subscription.noticed(numbers) and (pause_s := polling.pause_s()) is not None:
                if pause_s:
                    await subscription.pause(pause_s, numbers)
                else:
                    progress("wait", seen - polling.left, seen)
                    await asyncio.to_thread(polling.poll_next)


def _found(find_left: Callable[[], Sequence[Job]]) -> list[Job] | None:
    """The jobs that are left; None if they cannot be read now."""
    try:
        return list(find_left())
    except Exception as error:  # noqa: BLE001  whatever it is, the wait ends at its deadline (I15)
        log.warning("wait: the jobs cannot be read now: %s", reason_of(error))
        return None


class _Polling:
    """From one look at the tables to the next: each job is polled when it is due, by the times that the look found."""

    def __init__(self, context: Context, left: Sequence[Job]) -> None:
        self._context = context
        self._calls: StatusCalls = {}
        now_s = context.clock.monotonic_s()
        self._jobs = {job.job_id: job for job in left}
        accepted = [job for job in left if job.state == State.OPEN]  # a lost request has nothing to poll
        self._due_s = {job.job_id: now_s if job.poll_due else now_s + job.wait_s for job in accepted}
        self._look_s = now_s + min([LOOK_AGAIN_S, *(max(0.1, job.left_s) for job in accepted)])
        self._ended = False

    @property
    def left(self) -> int:
        """The jobs of which no poll has returned the end."""
        return len(self._jobs)

    def pause_s(self) -> float | None:
        """Seconds until the next poll or look; 0: a poll is due; None: the tables have to be read, after an end that a poll returned too."""
        now_s = self._context.clock.monotonic_s()
        due_s = min(self._due_s.values(), default=math.inf)
        if now_s >= self._look_s or (self._ended and due_s > now_s):
            return None
        return 0.0 if due_s <= now_s else max(0.1, min(self._look_s, due_s) - now_s)

    def poll_next(self) -> None:
        """Polls the job that has been due the longest."""
        job_id = min(self._due_s, key=lambda job_id: self._due_s[job_id])
        job = self._jobs[job_id]
        report = poll_alone(self._context, job, self._calls)
        if report is None:
            del self._due_s[job_id]  # the next look finds when it is due
        elif report.ended:
            self._ended = True
            del self._due_s[job_id], self._jobs[job_id]
        else:
            pause_s = self._context.kinds[job.kind].pace(self._context.settings).pause_s(job.polls)
            self._due_s[job_id] = self._context.clock.monotonic_s() + pause_s
            self._jobs[job_id] = replace(job, polls=job.polls + 1)


def _numbers_of(left: Sequence[Job] | None) -> set[str] | None:
    """The platform's numbers of these jobs; None if one is unknown, because any event may be about it."""
    if left is None or any(job.platform_job_id is None for job in left):
        return None
    return {str(job.platform_job_id) for job in left}


def waiting(context: Context, kind: Kind, run: int | str | None, vendors: list[str]) -> list[Job]:
    """Accepted jobs whose end is unknown; a job without an answer is left to the recovery."""
    with context.engine.connect() as connection:
        jobs = context.kinds[kind].of_run(connection, run, vendors)
        accepted = [job for job in jobs if job.state == State.OPEN and not job.overdue]
        rows = received_of(context, connection, accepted)
    return [job for job in accepted if not known(context, job, rows[job.job_id]).ended]


def poll_alone(context: Context, job: Job, calls: StatusCalls) -> Report | None:
    """Polls one job, without its events; after any error its next poll is put off. None if even that could not be written."""
    try:
        return poll(context, job, rows=(), calls=calls)
    except Exception as error:  # noqa: BLE001  whatever it is, the other jobs are polled (I10)
        log.warning("wait: %s: %s", job.name, reason_of(error))
        try:
            postpone(context, job)
        except Exception as failure:  # noqa: BLE001  most likely the database is unavailable
            log.warning("wait: %s: %s", job.name, reason_of(failure))
            return None
    return Report()


def poll_due(context: Context, kind: Kind) -> None:
    """Polls every open job of this kind whose next poll is due, of every run."""
    calls: StatusCalls = {}
    for job in waiting(context, kind, None, []):
        if job.poll_due:
            poll_alone(context, job, calls)


def poll_overdue(context: Context, kind: Kind) -> None:
    """Polls the jobs past their deadline once more before they end as unconfirmed: perhaps no process polled them in time.

    If the platform cannot be polled now, they end as unconfirmed, which is safe: the same is sent again.
    """
    with context.engine.connect() as connection:
        jobs = context.kinds[kind].of_run(connection, None, [])
    for job in jobs:
        if job.state != State.OPEN or not job.overdue or known(context, job).ended:
            continue
        try:
            poll(context, job)
        except Exception as error:  # noqa: BLE001  whatever it is, the deadline ends this job and the others are polled
            log.warning("poll: %s: %s", job.name, reason_of(error))
            if isinstance(error, UnavailableError | ThrottledError) or stops_every_job(error):
                return
