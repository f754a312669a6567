"""The requests of clients and the events to them, as people search and export them: a filtered list, one record, a HAR file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse
from sqlalchemy import ColumnElement, Connection, Row, or_, select

from partner_sandbox import answers, storage
from partner_sandbox.clock import iso
from partner_sandbox.contract import described
from partner_sandbox.errors import invalid, not_found
from partner_sandbox.exchange import EXCERPT_BYTES, exchange
from partner_sandbox.journal import journal
from partner_sandbox.sandbox import Sandbox, TheSandbox

KINDS = {"request": "to the service", "storage": "to the storage host", "webhook": "events to the partner"}
STATUSES = ("rejected", "2xx", "3xx", "4xx", "5xx", "none")
VERSION = "1"
HAR_MAX = 500
"""Records in one file."""


@dataclass(frozen=True)
class Filter:
    """What a list is of; an empty text is no condition."""

    kind: str = ""
    operation: str = ""
    status: str = ""
    rule: str = ""
    caller: str = ""
    q: str = ""

    def conditions(self) -> list[ColumnElement[bool]]:
        """400 for a status that is neither a number nor a class of numbers."""
        given = self.values()
        wanted = [journal.c[name] == given[name] for name in ("kind", "operation", "caller") if name in given]
        if self.status:
            wanted.append(_of_status(self.status))
        if self.rule:
            hint = journal.c.hint
            exact = f"interface {self.rule}"
            wanted.append(or_(hint == exact, hint.startswith(f"{exact};"), hint.startswith(f"{exact}.")))
        if self.q:
            texts = (journal.c.route, journal.c.reason, journal.c.fault)
            wanted.append(or_(*(text.contains(self.q, autoescape=True) for text in texts)))
        return wanted

    def values(self) -> dict[str, str]:
        """The conditions as a query has them."""
        return {name: value for name, value in asdict(self).items() if value}


def _of_status(status: str) -> ColumnElement[bool]:
    if status == "rejected":
        return journal.c.reason.is_not(None)
    if status == "none":
        return journal.c.status.is_(None)
    if status in STATUSES:
        return journal.c.status.between(int(status[0]) * 100, int(status[0]) * 100 + 99)
    if status.isdecimal() and len(status) == 3:
        return journal.c.status == int(status)
    raise invalid("status", f"must be a status or one of {', '.join(STATUSES)}")


def the_filter(
    kind: str = "", operation: str = "", status: str = "", rule: str = "", caller: str = "", q: str = ""
) -> Filter:
    """The filter of a query."""
    return Filter(kind, operation, status, rule.strip(), caller.strip(), q.strip())


TheFilter = Annotated[Filter, Depends(the_filter)]
_WITH_BODIES = select(journal, exchange.c.ended_us, exchange.c.sent, exchange.c.answered).outerjoin(
    exchange, exchange.c.n == journal.c.n
)


def page(connection: Connection, wanted: Filter, first: int, count: int) -> tuple[int, Sequence[Row[Any]]]:
    """How many records there are of this kind, and some of them, the newest first."""
    rows = select(journal).where(*wanted.conditions()).order_by(journal.c.n.desc())
    return storage.page(connection, rows, first, count)


def rules(connection: Connection) -> list[str]:
    """The rules of the interface that were broken so far, as a choice for the filter."""
    hints = connection.execute(select(journal.c.hint).where(journal.c.hint.startswith("interface ")).distinct())
    return sorted({row.hint.removeprefix("interface ").partition(";")[0] for row in hints})


def one(connection: Connection, n: int) -> Row[Any]:
    """A record; its bodies are null once it is older than the last exchanges that are kept. 404 for none."""
    found = connection.execute(_WITH_BODIES.where(journal.c.n == n)).one_or_none() if n < 2**63 else None
    if found is None:
        raise not_found("Record")
    return found


def as_har(sandbox: Sandbox, rows: Sequence[Row[Any]]) -> dict[str, Any]:
    """HTTP Archive 1.2; bodies are excerpts, secrets and personal data are masked."""
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "partner-sandbox", "version": VERSION},
            "comment": f"bodies are cut after {EXCERPT_BYTES} bytes; secrets and personal data are masked",
            "entries": [_entry(sandbox, row) for row in rows],
        }
    }


def _entry(sandbox: Sandbox, row: Row[Any]) -> dict[str, Any]:
    took_ms = max(0, ((row.ended_us or row.at_us) - row.at_us) // 1000)
    sent = row.sent or {"headers": {}, "body": ""}
    answered = row.answered or {"headers": {}, "body": ""}
    url = _url(sandbox, row, sent["headers"])
    status = row.status or 0
    body_type = sent["headers"].get("content-type", "")
    into, out = (row.bytes_out, row.bytes_in) if row.kind == "webhook" else (row.bytes_in, row.bytes_out)
    request: dict[str, Any] = {
        "method": row.method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(sent["headers"].items()),
        "queryString": _pairs(parse_qsl(urlsplit(url).query, keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": into,
    }
    if sent["body"]:
        request["postData"] = {"mimeType": body_type, "text": sent["body"]}
    response = {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(answered["headers"].items()),
        "content": {
            "size": out,
            "mimeType": answered["headers"].get("content-type", ""),
            "text": answered["body"],
        },
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": out,
    }
    notes = [text for text in (row.reason, row.hint, row.fault and f"fault {row.fault}") if text]
    return {
        "startedDateTime": iso(row.at_us),
        "time": took_ms,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        "comment": "; ".join([f"record {row.n}", *notes]),
    }


def _url(sandbox: Sandbox, row: Row[Any], headers: dict[str, str]) -> str:
    if row.kind == "webhook":
        return str(row.route)
    base = sandbox.storage_url if row.kind == "storage" else sandbox.settings.public_url
    return f"{(base or 'http://' + headers.get('host', 'partner-sandbox.invalid')).rstrip('/')}{row.route}"


def _pairs(values: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values]


def har_of(sandbox: Sandbox, wanted: Filter, n: int | None = None) -> JSONResponse:
    """A file of one record, or of the newest ones of a filter whose bodies are kept, the oldest first."""
    with sandbox.storage.begin() as connection:
        if n is None:
            newest = _WITH_BODIES.where(*wanted.conditions(), exchange.c.n.is_not(None))
            rows = list(connection.execute(newest.order_by(journal.c.n.desc()).limit(HAR_MAX)))[::-1]
        else:
            rows = [one(connection, n)]
    name = "partner-sandbox.har" if n is None else f"partner-sandbox-{n}.har"
    return JSONResponse(as_har(sandbox, rows), headers={"Content-Disposition": f'attachment; filename="{name}"'})


router = APIRouter()


@router.get("/records", **described(answers.Records))
def read_records(
    sandbox: TheSandbox,
    wanted: TheFilter,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> dict[str, Any]:
    """Requests and events, the newest first, of a kind, an operation, a status, a rule or a caller, and their number."""
    with sandbox.storage.begin() as connection:
        total, rows = page(connection, wanted, offset, limit)
    return {"total": total, "records": [_without_bodies(row) for row in rows]}


@router.get("/records.har", **described(answers.Har))
def read_har(sandbox: TheSandbox, wanted: TheFilter) -> JSONResponse:
    """The same with their bodies, as an HTTP archive."""
    return har_of(sandbox, wanted)


@router.get("/records/{n}.har", **described(answers.Har))
def read_record_har(n: int, sandbox: TheSandbox) -> JSONResponse:
    """The same as an HTTP archive."""
    return har_of(sandbox, Filter(), n)


@router.get("/records/{n}", **described(answers.WholeRecord))
def read_record(n: int, sandbox: TheSandbox) -> dict[str, Any]:
    """One record with headers and the beginning of each body; secrets are masked."""
    with sandbox.storage.begin() as connection:
        row = one(connection, n)
    return {**_without_bodies(row), "sent": row.sent, "answered": row.answered}


def _without_bodies(row: Row[Any]) -> dict[str, Any]:
    hidden = {"at_us", "ended_us", "sent", "answered"}
    return {"time": iso(row.at_us), **{name: value for name, value in row._asdict().items() if name not in hidden}}
