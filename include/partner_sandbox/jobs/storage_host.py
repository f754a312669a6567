"""The storage host: presigned links, no bearer tokens, errors in XML as such hosts have them (field notes, Jobs)."""

from __future__ import annotations

import hmac

from fastapi import FastAPI, Request
from fastapi.responses import Response

from partner_sandbox.edge import Edge
from partner_sandbox.jobs import files, jobs
from partner_sandbox.jobs.links import PRESIGNED_PATH, signature
from partner_sandbox.sandbox import Sandbox


def create_storage_app(sandbox: Sandbox) -> FastAPI:
    """An ASGI app beside the service; it shares the platform, not the address."""
    app = FastAPI(title="Storage host of the partner sandbox", openapi_url=None)
    app.state.sandbox = sandbox
    app.get(f"{PRESIGNED_PATH}/{{file}}", name="log")(fetch)
    app.add_middleware(Edge, sandbox=sandbox, kind="storage")
    return app


def fetch(file: str, request: Request, expires: str = "", signature: str = "") -> Response:
    """The file, for who holds the link and nothing else."""
    sandbox: Sandbox = request.app.state.sandbox
    if "authorization" in request.headers:
        return _refusal(400, "InvalidArgument", "Only one auth mechanism allowed")
    if not _genuine(file, expires, signature):
        return _refusal(403, "SignatureDoesNotMatch", "The request signature does not match")
    with sandbox.storage.begin() as connection:
        job = jobs.by_file(connection, file)
    if job is None or job.state in jobs.WITHOUT_FILE:
        return _refusal(404, "NoSuchKey", "The specified key does not exist")
    if files.expired(sandbox, job):
        return _refusal(403, "AccessDenied", "Request has expired")
    return files.respond(sandbox, job)


def _genuine(file: str, expires: str, given: str) -> bool:
    return expires.isdecimal() and hmac.compare_digest(signature(file, int(expires)).encode(), given.encode())


def _refusal(status: int, code: str, message: str) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Response(text, status, media_type="application/xml")
