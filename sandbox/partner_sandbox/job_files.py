"""The file of a job: the per-SKU log in the newer and the older form, and the faults that a file can have (interface.md 2.2, 5.5).

The service serves it behind the token, the storage host by a presigned link.
"""

from __future__ import annotations

import asyncio
import gzip
import hmac
import itertools
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import NamedTuple

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import text

from partner_sandbox import jobs
from partner_sandbox.catalog.listing import READ_ROWS, export_lines, quoted
from partner_sandbox.edge import Edge
from partner_sandbox.errors import ApiError, not_found, noted
from partner_sandbox.faults import Rule
from partner_sandbox.jobs import Job
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.settings import Behaviour
from partner_sandbox.storage import Storage
from partner_sandbox.vendors import TheChain

PIECE_ROWS = 2_000
_PAGE = text("""
    SELECT number, sku, barcode, error FROM job_item
    WHERE job_seq = :job AND number >= :first AND number < :beyond ORDER BY number
""")
NEWER = ("sku", "state", "errors")
OLDER = ("sku", "code", "state", "errors", "row_number", "piece_barcode")
UNKNOWN = ("processed_by", "remarks")


class LogRow(NamedTuple):
    """The outcome of one item; `error` is None for a success."""

    number: int
    sku: str | None
    barcode: str | None
    error: str | None


def lines(storage: Storage, behaviour: Behaviour, job: Job) -> Iterator[str]:
    """The file in pieces of text: a header row, then a row for each item in the order they were sent.

    The column sku has the key as it was sent: the SKU, or the barcode padded to 14 digits.
    """
    return written(rows(storage, job), behaviour)


def rows(storage: Storage, job: Job) -> Iterator[LogRow]:
    """The items of a job and their outcomes, in the order they were sent."""
    for first in range(0, job.items, READ_ROWS):
        with storage.begin() as connection:
            page = connection.execute(_PAGE, {"job": job.seq, "first": first, "beyond": first + READ_ROWS}).all()
        for number, sku, barcode, error in page:
            yield LogRow(number, sku, barcode, error)


def written(items: Iterable[LogRow], behaviour: Behaviour, *, unknown_columns: bool = False) -> Iterator[str]:
    """The rows in the form of the dialect, after their header."""
    older = behaviour.log_format == "older"
    header = OLDER if older else NEWER
    form = _older if older else _newer
    fine = quoted(behaviour.log_no_errors)
    beginning, end = ("", "\r\n")
    if unknown_columns:
        header = (UNKNOWN[0], *header, UNKNOWN[1])
        beginning, end = ('"batch-7",', ',"-"\r\n')
    piece = [",".join(map(quoted, header)) + "\r\n"]
    for row in items:
        piece.append(f"{beginning}{form(row, fine)}{end}")
        if len(piece) >= PIECE_ROWS:
            yield "".join(piece)
            piece.clear()
    yield "".join(piece)


def _newer(row: LogRow, fine: str) -> str:
    key = quoted(row.sku or row.barcode or "")
    return f'{key},"success",{fine}' if row.error is None else f'{key},"failed",{quoted(row.error)}'


def _older(row: LogRow, fine: str) -> str:
    key = quoted(row.sku or row.barcode or "")
    code, state, errors = ("200", "success", fine) if row.error is None else ("404", "failed", quoted(row.error))
    return f'{key},"{code}","{state}",{errors},"{row.number + 1}",{quoted(row.barcode or "")}'


CSV = "text/csv; charset=utf-8"
ANY_FILE = ("truncated", "gzip", "byte_order_mark", "html_page", "empty", "drip", "endless")
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
    if rule.kind == "drip":
        return StreamingResponse(_dripping("".join(_text(sandbox, job)).encode(), rule), media_type=CSV)
    if rule.kind == "endless":
        return StreamingResponse(_endless(_text(sandbox, job), rule), media_type=CSV)
    return _encoded(rule, "".join(_text(sandbox, job)).encode())


def _encoded(rule: Rule, whole: bytes) -> Response:
    if rule.kind == "gzip":
        return Response(gzip.compress(whole, mtime=0), media_type="application/gzip")
    if rule.kind == "byte_order_mark":
        return Response(b"\xef\xbb\xbf" + whole, media_type=CSV)
    keep = 0 if rule.kind == "empty" else len(whole) * 2 // 3 if rule.bytes is None else rule.bytes
    return Response(whole[:keep], media_type=CSV)


async def _dripping(whole: bytes, rule: Rule) -> AsyncIterator[bytes]:
    for byte in whole:
        yield bytes((byte,))
        await asyncio.sleep(1.0 if rule.seconds is None else rule.seconds)


def _endless(beginning: Iterator[str], rule: Rule) -> Iterator[bytes]:
    sent_bytes = 0
    numbered = (
        "".join(f'"never-sent-{number}","success","null"\r\n' for number in range(first, first + PIECE_ROWS))
        for first in itertools.count(step=PIECE_ROWS)
    )
    for piece in itertools.chain(beginning, numbered):
        if rule.bytes is not None and sent_bytes >= rule.bytes:
            return
        sent_bytes += len(piece)
        yield piece.encode()


def _text(sandbox: Sandbox, job: Job) -> Iterator[str]:
    if job.kind == "export":
        return export_lines(sandbox.storage, job)
    return lines(sandbox.storage, sandbox.behaviour, job)


def _altered(sandbox: Sandbox, job: Job, rule: Rule) -> Iterator[str]:
    behaviour = sandbox.behaviour
    if rule.kind == "older_format":
        return lines(sandbox.storage, behaviour.model_copy(update={"log_format": "older"}), job)
    if rule.kind == "log_of_another":
        with sandbox.storage.begin() as connection:
            job = jobs.before(connection, job)
        return lines(sandbox.storage, behaviour, job)
    sent = rows(sandbox.storage, job)
    changed: Iterable[LogRow] = sent
    if rule.kind == "missing_sku":
        changed = (row for row in sent if row.number != job.seq % job.items)
    elif rule.kind == "foreign_sku":
        stranger = LogRow(job.items, f"never-sent-{job.seq}", None, None)
        changed = itertools.chain(sent, [stranger])
    elif rule.kind == "contradiction":
        changed = itertools.chain.from_iterable(
            (row, row._replace(error="contradicted")) if row.number == 0 else (row,) for row in sent
        )
    return written(changed, behaviour, unknown_columns=rule.kind == "unknown_columns")


router = APIRouter()


@router.get("/v2/chains/{chain_id}/catalog/downloads/{file}", name="log")  # noqa: FAST003
def download(file: str, sandbox: TheSandbox, chain: TheChain) -> Response:
    """The log of an update or the data of an export, for a holder of a token of the chain."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_file(connection, file)
    if job is None or job.chain != chain.chain or job.state in jobs.WITHOUT_FILE:
        raise not_found("File")
    if expired(sandbox, job):
        raise ApiError(410, "LINK_EXPIRED", "The link has expired")
    return respond(sandbox, job)


def create_storage_app(sandbox: Sandbox) -> FastAPI:
    """An ASGI app beside the service; it shares the platform, not the address."""
    app = FastAPI(title="Storage host of the partner sandbox", openapi_url=None)
    app.state.sandbox = sandbox
    app.get(f"{jobs.PRESIGNED_PATH}/{{file}}", name="log")(fetch)
    app.add_middleware(Edge, sandbox=sandbox, kind="storage")
    return app


def fetch(file: str, request: Request, expires: str = "", signature: str = "") -> Response:
    """The file, for a request with a valid link and no token."""
    sandbox: Sandbox = request.app.state.sandbox
    if "authorization" in request.headers:
        return _error(request, 400, "InvalidArgument", "Only one auth mechanism allowed")
    if not _genuine(file, expires, signature):
        return _error(request, 403, "SignatureDoesNotMatch", "The request signature does not match")
    with sandbox.storage.begin() as connection:
        job = jobs.by_file(connection, file)
    if job is None or job.state in jobs.WITHOUT_FILE:
        return _error(request, 404, "NoSuchKey", "The specified key does not exist")
    if expired(sandbox, job):
        return _error(request, 403, "AccessDenied", "Request has expired")
    return respond(sandbox, job)


def _genuine(file: str, expires: str, given: str) -> bool:
    return expires.isdecimal() and hmac.compare_digest(jobs.signature(file, int(expires)).encode(), given.encode())


def _error(request: Request, status: int, code: str, message: str) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    error = ApiError(status, code, message, rule="5.5", choice="link")
    headers = noted(request.scope, error, request.app.state.sandbox.behaviour)
    return Response(text, status, headers, media_type="application/xml")
