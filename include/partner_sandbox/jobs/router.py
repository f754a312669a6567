"""Job status and the files of jobs on the service itself (interface.md 4.6, 5.5; field notes, Jobs)."""

from __future__ import annotations

import hmac
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response

from partner_sandbox.access.callers import TheChain, TheSandbox
from partner_sandbox.edge import Edge
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.jobs import answers, files, jobs
from partner_sandbox.jobs.files import PRESIGNED_PATH, signature
from partner_sandbox.sandbox import Sandbox

router = APIRouter()


@router.get("/v2/chains/{chain_id}/catalog/jobs/{job_id}", name="job_status")  # noqa: FAST003  chain_id: TheChain takes it
def job_status(job_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """The state of a job and, once it has ended, its rejected items and the link to its file."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_id(connection, chain.chain, job_id)
    hidden = sandbox.behaviour.job_status_for == "creation"
    if job is None or job.kind == "promotion" or (hidden and job.kind != "creation"):
        raise not_found("Job")
    return answers.status_of(sandbox, job)


@router.get("/v2/chains/{chain_id}/catalog/downloads/{file}", name="log")  # noqa: FAST003
def download(file: str, sandbox: TheSandbox, chain: TheChain) -> Response:
    """The log of an update or the data of an export, for a holder of a token of the chain."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_file(connection, file)
    if job is None or job.chain != chain.chain:
        raise not_found("File")
    if job.state in jobs.WITHOUT_FILE:
        raise not_found("File")
    if files.expired(sandbox, job):
        raise ApiError(410, "LINK_EXPIRED", "The link has expired")
    return files.respond(sandbox, job)


def create_storage_app(sandbox: Sandbox) -> FastAPI:
    """An ASGI app beside the service; it shares the platform, not the address."""
    app = FastAPI(title="Storage host of the partner sandbox", openapi_url=None)
    app.state.sandbox = sandbox
    app.get(f"{PRESIGNED_PATH}/{{file}}", name="log")(fetch)
    app.add_middleware(Edge, sandbox=sandbox, kind="storage")
    return app


def fetch(file: str, request: Request, expires: str = "", signature: str = "") -> Response:
    """The file, for a request with a valid link and no token."""
    sandbox: Sandbox = request.app.state.sandbox
    if "authorization" in request.headers:
        return _error(400, "InvalidArgument", "Only one auth mechanism allowed")
    if not _genuine(file, expires, signature):
        return _error(403, "SignatureDoesNotMatch", "The request signature does not match")
    with sandbox.storage.begin() as connection:
        job = jobs.by_file(connection, file)
    if job is None or job.state in jobs.WITHOUT_FILE:
        return _error(404, "NoSuchKey", "The specified key does not exist")
    if files.expired(sandbox, job):
        return _error(403, "AccessDenied", "Request has expired")
    return files.respond(sandbox, job)


def _genuine(file: str, expires: str, given: str) -> bool:
    return expires.isdecimal() and hmac.compare_digest(signature(file, int(expires)).encode(), given.encode())


def _error(status: int, code: str, message: str) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Response(text, status, media_type="application/xml")
