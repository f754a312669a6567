"""The inbox: what the platform sent, what waits, what was set aside, and which calls were refused. It shows no content of an event."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.status import HTTP_409_CONFLICT

from shelfsync.errors import DataError
from shelfsync.pages.form import Form
from shelfsync.pages.lists import Column, Field, list_file, list_values
from shelfsync.pages.rights import Decider
from shelfsync.pages.shell import Page, context, lead_to, sentence, show
from shelfsync.receiver.operator_actions import replay
from shelfsync.store.keyset_list import KeysetList, Order

INBOX = Page("/inbox", "Inbox", ("catalog_recover", "orders_fulfilment"))

EVENTS = KeysetList(
    "inbox.event",
    ("event_id", "kind", "platform_job_id", "vendor", "received_at", "processed_at", "quarantine_reason"),
    {
        "kind": "kind = :kind",
        "vendor": "vendor = :vendor",
        "job": "platform_job_id = :job",
        "waiting": "processed_at IS NULL AND :waiting <> ''",
        "set_aside": "quarantine_reason IS NOT NULL AND :set_aside <> ''",
    },
    {
        "newest": Order((("event_id", "bigint"),), newest_first=True),
        "oldest": Order((("event_id", "bigint"),)),
    },
)
"""Without the bodies, which hold personal data and links that are secrets."""
REFUSALS = 20
"""Reports of refused calls that the page has."""
_REFUSED = "SELECT refused_at, endpoint, calls FROM inbox.refusal ORDER BY refused_at DESC LIMIT :most"
_ENDPOINTS = {"inbox": "events of the platform", "picking": "picking results of the stores"}
_YES = {"yes": "yes"}
_KINDS = {"job": "end of a job", "order": "order", "unknown": "neither job nor order"}
_FIELDS = (
    Field("kind", "what", _KINDS),
    Field("vendor", "store"),
    Field("job", "job of the platform"),
    Field("waiting", "still waits", _YES),
    Field("set_aside", "set aside", _YES),
)
_COLUMNS = (
    Column("event_id", "event", "id"),
    Column("kind", "what", "state", _KINDS),
    Column("vendor", "store", "store"),
    Column("platform_job_id", "job of the platform"),
    Column("received_at", "came", "when"),
    Column("processed_at", "processed", "when"),
    Column("quarantine_reason", "set aside, because"),
)


@INBOX.router.get("/inbox")
def inbox(request: Request) -> HTMLResponse:
    """What `shelfsync inbox list` has, and the calls with a wrong secret."""
    values = list_values(request, EVENTS, INBOX.path, _FIELDS, _COLUMNS)
    with context(request).engine.connect() as connection:
        refused = [dict(row) for row in connection.execute(sa.text(_REFUSED), {"most": REFUSALS}).mappings()]
    values["rows"] = [{**row, "replayable": _is_replayable(row)} for row in values["rows"]]
    return show(
        request,
        "inbox.html",
        title=INBOX.title,
        chips=(),
        replay=True,
        refused=[{**row, "endpoint": _ENDPOINTS.get(row["endpoint"], row["endpoint"])} for row in refused],
        empty="There is no such event." if values["asked"].filters else "The platform has sent no event yet.",
        **values,
    )


@INBOX.router.get("/inbox.csv")
def inbox_file(request: Request) -> StreamingResponse:
    """All events that the page has with this filter."""
    return list_file(request, EVENTS, "inbox.csv")


@INBOX.router.post("/inbox/replay")
def process_again(request: Request, form: Form, _: Decider) -> RedirectResponse:
    """The next run of the schedule processes this event again. 409: it cannot be processed again."""
    number = form.get("event", "")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was changed: there is no event {number!r}")
    try:
        replay(context(request).engine, [int(number)])
    except DataError as error:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was changed: {sentence(error)}") from None
    return lead_to(request, INBOX.path)


def _is_replayable(row: dict[str, Any]) -> bool:
    """Whether processing it again can change anything: a job's event that is done, or an order that was set aside."""
    if row["kind"] == "job":
        return row["processed_at"] is not None
    return row["kind"] == "order" and row["quarantine_reason"] is not None
