"""Answers about a job: the one that accepts it, and the one of the status call (interface.md 2.2, 4.1, 4.6)."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import select

from partner_sandbox.jobs import jobs
from partner_sandbox.jobs.files import link_of
from partner_sandbox.jobs.jobs import Job, job_item
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.webhooks import notices

FEEDBACK_ITEMS_MAX = 10_000
UNKNOWN_STATE = "PARTIALLY_DONE"


async def accepted(
    sandbox: Sandbox, job: Job, request: Request, *, status: int = 202, more: dict[str, Any] | None = None
) -> Response:
    """The new job as the answer; applies the faults between a job and its answer."""
    operation = request.state.operation
    draw = sandbox.faults.draw
    if job.kind in notices.REPORTED_KINDS and draw("job_webhook", "early", vendor=job.vendor):
        with sandbox.storage.begin() as connection:
            notices.job_announced(connection, sandbox, job)
        await sandbox.work.run_due()
    if draw(operation, "job_first", vendor=job.vendor):
        with sandbox.storage.begin() as connection:
            now_us = sandbox.clock.now_us()
            jobs.change(connection, job.seq, due_us=now_us, finish_us=now_us)
        await sandbox.work.run_due()
    sandbox.work.wake()
    answer: dict[str, Any] = {"job_id": shown_id(sandbox, job), "job_status": job.state, **(more or {})}
    if draw(operation, "no_job_id", vendor=job.vendor):
        del answer["job_id"]
    if draw(operation, "job_id_of_another", vendor=job.vendor):
        with sandbox.storage.begin() as connection:
            answer["job_id"] = shown_id(sandbox, jobs.before(connection, job))
    if draw(operation, "unknown_status", vendor=job.vendor):
        answer["job_status"] = UNKNOWN_STATE
    return JSONResponse(answer, status_code=status)


def status_of(sandbox: Sandbox, job: Job) -> dict[str, Any]:
    """The state of a job and, once it has ended, its rejected items and the link to its file."""
    answer: dict[str, Any] = {"job_id": shown_id(sandbox, job), "job_status": job.state}
    if sandbox.faults.draw("job_status", "unknown_status", vendor=job.vendor):
        answer["job_status"] = UNKNOWN_STATE
    if job.state in jobs.OPEN:
        return answer
    result = {"item_level_feedback": [], "duplicated_products": [], **(job.result or {})}
    if job.kind == "update":
        result["item_level_feedback"] = _rejected_items(sandbox, job)
    answer["result"] = result
    link = link_of(sandbox, job)
    if link is not None:
        answer["download_url"] = link
    return answer


def shown_id(sandbox: Sandbox, job: Job) -> str | int:
    """The job's id in the type of the dialect."""
    return int(job.job_id) if sandbox.behaviour.job_id_type == "integer" and job.job_id.isdecimal() else job.job_id


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
