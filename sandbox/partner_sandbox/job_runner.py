"""A job from the answer that accepts it to the answer that reports its end (interface.md 2.2, 4.1, 4.6)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import select

from partner_sandbox import jobs, webhooks
from partner_sandbox.clock import Source, to_us
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.jobs import Job, job_item
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.vendors import TheChain

FEEDBACK_ITEMS_MAX = 10_000
UNKNOWN_STATE = "PARTIALLY_DONE"


async def accepted(
    sandbox: Sandbox, job: Job, request: Request, *, status: int = 202, more: dict[str, Any] | None = None
) -> Response:
    """The new job as the answer; applies the faults between a job and its answer."""
    operation = request.state.operation
    draw = sandbox.faults.draw
    if job.kind in webhooks.REPORTED_KINDS and draw("job_webhook", "early", vendor=job.vendor):
        with sandbox.storage.begin() as connection:
            webhooks.job_announced(connection, sandbox, job)
        await sandbox.work.run_due()
    if draw(operation, "job_first", vendor=job.vendor):
        with sandbox.storage.begin() as connection:
            now_us = sandbox.clock.now_us()
            jobs.change(connection, job.seq, due_us=now_us, finish_us=now_us)
        await sandbox.work.run_due()
    sandbox.work.wake()
    answer: dict[str, Any] = {"job_id": jobs.shown_id(sandbox, job), "job_status": job.state, **(more or {})}
    if draw(operation, "no_job_id", vendor=job.vendor):
        del answer["job_id"]
    if draw(operation, "job_id_of_another", vendor=job.vendor):
        with sandbox.storage.begin() as connection:
            answer["job_id"] = jobs.shown_id(sandbox, jobs.before(connection, job))
    if draw(operation, "unknown_status", vendor=job.vendor):
        answer["job_status"] = UNKNOWN_STATE
    return JSONResponse(answer, status_code=status)


def status_of(sandbox: Sandbox, job: Job) -> dict[str, Any]:
    """The state of a job and, once it has ended, its rejected items and the link to its file."""
    answer: dict[str, Any] = {"job_id": jobs.shown_id(sandbox, job), "job_status": job.state}
    if sandbox.faults.draw("job_status", "unknown_status", vendor=job.vendor):
        answer["job_status"] = UNKNOWN_STATE
    if job.state in jobs.OPEN:
        return answer
    result = {"item_level_feedback": [], "duplicated_products": [], **(job.result or {})}
    if job.kind == "update":
        result["item_level_feedback"] = _rejected_items(sandbox, job)
    answer["result"] = result
    link = jobs.link_of(sandbox, job)
    if link is not None:
        answer["download_url"] = link
    return answer


def _rejected_items(sandbox: Sandbox, job: Job) -> list[dict[str, Any]]:
    rejected = (
        select(job_item)
        .where(job_item.c.job_seq == job.seq, job_item.c.error.is_not(None))
        .order_by(job_item.c.number)
        .limit(FEEDBACK_ITEMS_MAX)
    )
    with sandbox.storage.begin() as connection:
        rows = connection.execute(rejected).all()
    return [
        {
            "sku": row.sku or row.barcode,
            "status": "failed",
            "rejection_reasons": [{"rejected_data": row.sku or row.barcode, "rejected_reason": row.error}],
        }
        for row in rows
    ]


WITH_FILE = frozenset({"update", "export"})
logger = logging.getLogger(__name__)


class JobSource(Source):
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

    async def _step(self, job: jobs.Job, now_us: int) -> None:
        stuck = job.state == "QUEUED" and self._sandbox.faults.draw("job", "stuck", vendor=job.vendor)
        if stuck or job.finish_us > now_us:
            with self._sandbox.storage.begin() as connection:
                jobs.change(connection, job.seq, state="IN_PROGRESS", due_us=None if stuck else job.finish_us)
            return
        await asyncio.to_thread(finish, self._sandbox, job)


def finish(sandbox: Sandbox, job: jobs.Job) -> None:
    """Does the job's work and ends it with its event; after a death in between, the next process does."""
    with sandbox.storage.begin() as connection:
        jobs.change(connection, job.seq, state="IN_PROGRESS")
    runner = sandbox.runners[job.kind]
    try:
        if _is_to_fail(sandbox, job):
            _end(sandbox, job, "FAILED")
        else:
            made = runner.pieces(sandbox, job)
            with sandbox.storage.begin():
                _end(sandbox, job, runner.conclude(sandbox, job, made) or "COMPLETED")
    except Exception:
        logger.exception("job %s of the sandbox failed", job.job_id)
        _end(sandbox, job, "FAILED")
    sandbox.work.wake()


def _is_to_fail(sandbox: Sandbox, job: jobs.Job) -> bool:
    draw = sandbox.faults.draw
    return bool(draw("job", "failed", vendor=job.vendor, has_sku=lambda sku: jobs.has_sku(sandbox, job.seq, sku)))


def _end(sandbox: Sandbox, job: jobs.Job, state: str) -> None:
    """Stores the end and notes the event, unless the job has ended already or a reset deleted it."""
    ended_us = sandbox.clock.now_us()
    ended: dict[str, Any] = {"state": state, "due_us": None, "ended_us": ended_us}
    if state == "COMPLETED" and job.kind in WITH_FILE:
        ended["link_ends_us"] = ended_us + to_us(sandbox.behaviour.link_life_s)
        if not job.announced:
            ended["file"] = jobs.file_name(sandbox)
        astray = sandbox.faults.draw("job", "foreign_link", vendor=job.vendor)
        if astray is not None:
            ended["link"] = astray.url or jobs.FOREIGN_URL
    with sandbox.storage.begin() as connection:
        if jobs.end(connection, job.seq, **ended):
            webhooks.job_ended(connection, sandbox, jobs.by_seq(connection, job.seq))
            jobs.forget_old(connection, job.seq)


router = APIRouter()


@router.get("/v2/chains/{chain_id}/catalog/jobs/{job_id}", name="job_status")  # noqa: FAST003  chain_id: TheChain takes it
def job_status(job_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """The state of a job and, once it has ended, its rejected items and the link to its file."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_id(connection, chain.chain, job_id)
    hidden = sandbox.behaviour.job_status_for == "creation"
    if job is None or job.kind == "promotion":
        raise not_found("Job")
    if hidden and job.kind != "creation":
        problem = f"Job not found: this dialect shows the state of creations only, and this is an {job.kind}"
        raise ApiError(404, "NOT_FOUND", problem, choice="job_status_for")
    return status_of(sandbox, job)
