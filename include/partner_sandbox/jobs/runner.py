"""Runs the jobs that are due, one after the other, and notes their events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from partner_sandbox.clock import to_us
from partner_sandbox.jobs import jobs
from partner_sandbox.jobs.files import FOREIGN_URL
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.webhooks import notices

WITH_FILE = frozenset({"update", "export"})
logger = logging.getLogger(__name__)

Runner = Callable[[Sandbox, jobs.Job], str | None]
"""Does the work of one kind of job. Returns the final state; None means COMPLETED."""


class JobSource:
    """The jobs as due work."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._one_at_a_time = asyncio.Lock()

    def next_due_us(self) -> int | None:
        with self._sandbox.storage.begin() as connection:
            return jobs.next_due_us(connection)

    async def run_due(self) -> int:
        async with self._one_at_a_time:
            now_us = self._sandbox.clock.now_us()
            with self._sandbox.storage.begin() as connection:
                due = jobs.due(connection, now_us)
            for job in due:
                await self._step(job, now_us)
            return len(due)

    async def finish(self) -> int:
        """Waits for nothing: a job ends before the next one starts."""
        return 0

    async def stop(self) -> None:
        """Drops nothing: an interrupted job runs again when the platform starts again."""

    async def _step(self, job: jobs.Job, now_us: int) -> None:
        stuck = job.state == "QUEUED" and self._sandbox.faults.draw("job", "stuck", vendor=job.vendor)
        if stuck or job.finish_us > now_us:
            with self._sandbox.storage.begin() as connection:
                jobs.change(connection, job.seq, state="IN_PROGRESS", due_us=None if stuck else job.finish_us)
            return
        await asyncio.to_thread(finish, self._sandbox, job)


def finish(sandbox: Sandbox, job: jobs.Job) -> None:
    """Does the job's work, stores its end and notes the webhook."""
    with sandbox.storage.begin() as connection:
        jobs.change(connection, job.seq, state="IN_PROGRESS")
    state = _work(sandbox, job)
    ended_us = sandbox.clock.now_us()
    ended: dict[str, Any] = {"state": state, "due_us": None, "ended_us": ended_us}
    if state == "COMPLETED" and job.kind in WITH_FILE:
        ended["link_ends_us"] = ended_us + to_us(sandbox.behaviour.link_life_s)
        if not job.announced:
            ended["file"] = jobs.file_name(sandbox)
        astray = sandbox.faults.draw("job", "foreign_link", vendor=job.vendor)
        if astray is not None:
            ended["link"] = astray.url or FOREIGN_URL
    with sandbox.storage.begin() as connection:
        if jobs.change(connection, job.seq, **ended):
            notices.job_ended(connection, sandbox, jobs.by_seq(connection, job.seq))
    sandbox.work.wake()


def _work(sandbox: Sandbox, job: jobs.Job) -> str:
    if sandbox.faults.draw("job", "failed", vendor=job.vendor, has_sku=lambda sku: jobs.has_sku(sandbox, job.seq, sku)):
        return "FAILED"
    try:
        return sandbox.runners[job.kind](sandbox, job) or "COMPLETED"
    except Exception:
        logger.exception("job %s of the sandbox failed", job.job_id)
        return "FAILED"
