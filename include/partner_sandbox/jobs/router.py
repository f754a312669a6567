"""Job status and the files of jobs on the service itself (interface.md 4.6, 5.5; field notes, Jobs)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from partner_sandbox.access.callers import TheChain, TheSandbox
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.jobs import answers, files, jobs

router = APIRouter()


@router.get("/v2/chains/{chain_id}/catalog/jobs/{job_id}", name="job_status")  # noqa: FAST003  chain_id: TheChain takes it
def job_status(job_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """How far a job is and, once it has ended, what it refused and where its file is."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_id(connection, chain.chain, job_id)
    hidden = sandbox.behaviour.job_status_for == "creation"
    if job is None or job.kind == "promotion" or (hidden and job.kind != "creation"):
        raise not_found("Job")
    return answers.status_of(sandbox, job)


@router.get("/v2/chains/{chain_id}/catalog/downloads/{file}", name="log")  # noqa: FAST003
def download(file: str, sandbox: TheSandbox, chain: TheChain) -> Response:
    """The log of an update or the data of an export, for who holds a token of the chain."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_file(connection, file)
    if job is None or job.chain != chain.chain:
        raise not_found("File")
    if job.state in jobs.WITHOUT_FILE:
        raise not_found("File")
    if files.expired(sandbox, job):
        raise ApiError(410, "LINK_EXPIRED", "The link has expired")
    return files.respond(sandbox, job)
