"""The file of a job as an answer, and the faults that a file can have."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import itertools
from collections.abc import Iterable, Iterator

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from partner_sandbox.catalog import export
from partner_sandbox.clock import SECOND_US
from partner_sandbox.faults.rules import Rule
from partner_sandbox.jobs import jobs, log
from partner_sandbox.jobs.jobs import Job
from partner_sandbox.sandbox import Sandbox

CSV = "text/csv; charset=utf-8"
ANY_FILE = ("truncated", "gzip", "byte_order_mark", "html_page", "empty")
LOG_ONLY = ("unknown_columns", "older_format", "missing_sku", "foreign_sku", "contradiction", "log_of_another")
HTML = "<!DOCTYPE html><html><body><h1>Service temporarily unavailable</h1></body></html>"


def expired(sandbox: Sandbox, job: Job) -> bool:
    """Whether the link has expired, or a fault makes it expire."""
    struck = sandbox.faults.draw("log", "expired", vendor=job.vendor) is not None
    return struck or job.link_ends_us is None or job.link_ends_us <= sandbox.clock.now_us()


def respond(sandbox: Sandbox, job: Job) -> Response:
    """The file, streamed."""
    kinds = (*ANY_FILE, *LOG_ONLY) if job.kind == "update" else ANY_FILE
    rule = sandbox.faults.draw("log", *kinds, vendor=job.vendor)
    if rule is None:
        return StreamingResponse(_text(sandbox, job), media_type=CSV)
    if rule.kind in LOG_ONLY:
        return StreamingResponse(_altered(sandbox, job, rule), media_type=CSV)
    if rule.kind == "html_page":
        return Response(HTML, media_type="text/html")
    return _encoded(rule, "".join(_text(sandbox, job)).encode())


def _encoded(rule: Rule, whole: bytes) -> Response:
    if rule.kind == "gzip":
        return Response(gzip.compress(whole, mtime=0), media_type="application/gzip")
    if rule.kind == "byte_order_mark":
        return Response(b"\xef\xbb\xbf" + whole, media_type=CSV)
    keep = 0 if rule.kind == "empty" else len(whole) * 2 // 3 if rule.bytes is None else rule.bytes
    return Response(whole[:keep], media_type=CSV)


def _text(sandbox: Sandbox, job: Job) -> Iterator[str]:
    if job.kind == "export":
        return export.lines(sandbox.storage, job)
    return log.lines(sandbox.storage, sandbox.behaviour, job)


def _altered(sandbox: Sandbox, job: Job, rule: Rule) -> Iterator[str]:
    behaviour = sandbox.behaviour
    if rule.kind == "older_format":
        return log.lines(sandbox.storage, behaviour.model_copy(update={"log_format": "older"}), job)
    if rule.kind == "log_of_another":
        with sandbox.storage.begin() as connection:
            job = jobs.before(connection, job)
        return log.lines(sandbox.storage, behaviour, job)
    rows = log.rows(sandbox.storage, job)
    changed: Iterable[log.LogRow] = rows
    if rule.kind == "missing_sku":
        changed = (row for row in rows if row.number != job.seq % job.items)
    elif rule.kind == "foreign_sku":
        stranger = log.LogRow(job.items, f"never-sent-{job.seq}", None, None)
        changed = itertools.chain(rows, [stranger])
    elif rule.kind == "contradiction":
        changed = itertools.chain.from_iterable(
            (row, row._replace(error="contradicted")) if row.number == 0 else (row,) for row in rows
        )
    return log.written(changed, behaviour, unknown_columns=rule.kind == "unknown_columns")


_KEY = b"the storage host of the sandbox"
PRESIGNED_PATH = "/catalog-files"
FOREIGN_URL = "http://downloads.attacker.invalid/log.csv"


def address_of(sandbox: Sandbox, request: Request) -> str:
    """The service's own address in links: as configured, or as the caller reached it."""
    return (sandbox.settings.public_url or str(request.base_url)).rstrip("/")


def link_of(sandbox: Sandbox, job: Job) -> str | None:
    """The link to the job's file; None if it has none."""
    if job.file is None or job.link_ends_us is None:
        return None
    if job.link is not None:
        return job.link
    if sandbox.behaviour.link == "bearer":
        return f"{job.address}/v2/chains/{job.chain}/catalog/downloads/{job.file}"
    ends_s = job.link_ends_us // SECOND_US
    return f"{sandbox.storage_url}{PRESIGNED_PATH}/{job.file}?expires={ends_s}&signature={signature(job.file, ends_s)}"


def signature(file: str, ends_s: int) -> str:
    """The signature of a presigned link."""
    return hmac.new(_KEY, f"{file} {ends_s}".encode(), hashlib.sha256).hexdigest()
