"""The file of a job as an answer, and the faults that a file can have."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterable, Iterator

from fastapi.responses import Response, StreamingResponse

from partner_sandbox.catalog import export
from partner_sandbox.faults.rules import Rule
from partner_sandbox.jobs import jobs, log
from partner_sandbox.jobs.jobs import Job
from partner_sandbox.sandbox import Sandbox

CSV = "text/csv; charset=utf-8"
ANY_FILE = ("truncated", "gzip", "byte_order_mark", "html_page", "empty")
LOG_ONLY = ("unknown_columns", "older_format", "missing_sku", "foreign_sku", "contradiction", "log_of_another")
HTML = "<!DOCTYPE html><html><body><h1>Service temporarily unavailable</h1></body></html>"


def expired(sandbox: Sandbox, job: Job) -> bool:
    """Whether the link is past its life, or a fault says so."""
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
