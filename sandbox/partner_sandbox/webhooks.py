"""Notes the events for the partner; `webhook_delivery` carries them (interface.md 6)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Boolean, Column, Connection, ForeignKey, Index, Integer, Row, Table, Text, delete, select

from partner_sandbox import jobs
from partner_sandbox.clock import to_us
from partner_sandbox.errors import invalid
from partner_sandbox.faults import Rule
from partner_sandbox.jobs import Job, link_of
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.storage import metadata
from partner_sandbox.vendors import vendor_table

webhook = Table(
    "webhook",
    metadata,
    Column("chain", Text, ForeignKey("chain.chain"), primary_key=True),
    Column("catalog_url", Text),
    Column("order_url", Text),
    Column("secret", Text, comment="verbatim in the Authorization header; mandatory, nothing is sent without it"),
)

delivery = Table(
    "delivery",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chain", Text, nullable=False),
    Column("operation", Text, nullable=False, comment="job_webhook or order_webhook"),
    Column("subject", Text, nullable=False, comment="the job's or the order's id"),
    Column("event", Text, nullable=False, comment="the status it reports"),
    Column("url", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("authorization", Text, comment="instead of the configured secret, for a forged one"),
    Column("once", Boolean, nullable=False, default=False, comment="no further tries"),
    Column("after_next", Boolean, nullable=False, default=False, comment="held back until a later one has gone"),
    Column("fault", Text, comment="the fault that made it so"),
    Column("state", Text, nullable=False, comment="pending, delivered, given_up, lost"),
    Column("created_us", Integer, nullable=False),
    Column("due_us", Integer, comment="when the next attempt falls due"),
    Column("attempts", Integer, nullable=False, default=0),
    Index("delivery_by_due", "due_us"),
    sqlite_autoincrement=True,
)

attempt = Table(
    "attempt",
    metadata,
    Column("delivery_id", Integer, ForeignKey("delivery.id"), primary_key=True),
    Column("number", Integer, primary_key=True, comment="from 1"),
    Column("at_us", Integer, nullable=False),
    Column("status", Integer, comment="null when no answer came"),
    Column("problem", Text, comment="why no answer came"),
)


FAULTS = ("lost", "repeated", "reordered", "late", "forged_secret", "oversized", "other_vendor")
FORGED = "Bearer forged-by-another-party"
OVERSIZE_BYTES = 2 * 1024 * 1024
LATE_S = 300.0
HELD_S = 60.0
COPIES = 3
REPORTED_KINDS = frozenset({"update", "export"})
"""The kinds of job whose end is an event (interface.md 6)."""


def configured(connection: Connection, chain: str) -> Row[Any] | None:
    """Where a chain wants its events; a secret is mandatory to enable the integration (interface.md 5.6)."""
    row = connection.execute(select(webhook).where(webhook.c.chain == chain)).one_or_none()
    return row if row is not None and row.secret else None


def configure(connection: Connection, chain: str, **values: str | None) -> None:
    """Replaces a chain's addresses and its secret."""
    connection.execute(webhook.insert().prefix_with("OR REPLACE").values(chain=chain, **values))


def checked(name: str, url: str | None) -> str | None:
    """An address for events, None for an empty one; 400 for one that no event can be sent to."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise invalid(name, "must begin with http:// or https:// and name a host")
    return url


def addresses(connection: Connection, chain: str) -> dict[str, Any]:
    """Where events go; of the secret only whether there is one."""
    row = connection.execute(select(webhook).where(webhook.c.chain == chain)).one_or_none()
    urls = {name: getattr(row, name, None) for name in ("catalog_url", "order_url")}
    return {**urls, "secret_set": bool(row and row.secret)}


def note(
    connection: Connection,
    sandbox: Sandbox,
    *,
    chain: str,
    operation: str,
    subject: str,
    event: str,
    body: dict[str, Any],
    vendor: str | None = None,
) -> None:
    """A delivery due now, or what a fault makes of it; nothing when the chain has no address or no secret for it.

    `operation` is job_webhook or order_webhook. Wake the work after the transaction.
    """
    to = configured(connection, chain)
    url = None if to is None else (to.catalog_url if operation == "job_webhook" else to.order_url)
    if not url:
        return
    rule = sandbox.faults.draw(operation, *FAULTS, vendor=vendor)
    if rule is not None and rule.kind == "other_vendor" and vendor is not None:
        body = _renamed(body, vendor, _another(connection, chain, vendor))
    if rule is not None and rule.kind == "oversized":
        body = {**body, "padding": "x" * (OVERSIZE_BYTES if rule.bytes is None else rule.bytes)}
    row = {
        "chain": chain,
        "operation": operation,
        "subject": subject,
        "event": event,
        "url": url,
        "body": json.dumps(body, separators=(",", ":"), ensure_ascii=False),
        "created_us": sandbox.clock.now_us(),
    }
    for values in _deliveries(rule, sandbox.clock.now_us()):
        connection.execute(delivery.insert().values({**row, "attempts": 0, **values}))


DELIVERIES_MAX = 10_000
"""Ended deliveries that the platform remembers."""


def forget_old(connection: Connection, delivery_id: int) -> None:
    """Deletes ended deliveries far behind this one, from time to time."""
    if delivery_id % 1_000:
        return
    old = select(delivery.c.id).where(delivery.c.id <= delivery_id - DELIVERIES_MAX, delivery.c.state != "pending")
    connection.execute(delete(attempt).where(attempt.c.delivery_id.in_(old)))
    connection.execute(delete(delivery).where(delivery.c.id.in_(old)))


def job_ended(connection: Connection, sandbox: Sandbox, job: Job) -> None:
    """The completion event of an update or an export."""
    if job.kind in REPORTED_KINDS and not job.announced:
        _note_job(connection, sandbox, job)


def job_announced(connection: Connection, sandbox: Sandbox, job: Job) -> None:
    """The same event before the job has run, for a fault; its file exists once the job has ended."""
    link_ends_us = job.finish_us + to_us(sandbox.behaviour.link_life_s)
    file = jobs.file_name(sandbox)
    jobs.change(connection, job.seq, announced=True, file=file, link_ends_us=link_ends_us)
    announced = jobs.by_seq(connection, job.seq)
    _note_job(connection, sandbox, announced, state="COMPLETED")


def job_event(sandbox: Sandbox, job: Job, state: str) -> dict[str, Any]:
    """The payload of a job's event, in the spelling of the dialect."""
    behaviour = sandbox.behaviour
    body: dict[str, Any] = {
        "job_id": jobs.shown_id(sandbox, job),
        behaviour.job_webhook_vendor_name: job.vendor,
        behaviour.job_webhook_status_name: state,
    }
    link = link_of(sandbox, job)
    name = behaviour.job_webhook_link_name
    names = ("download_url", "downloadURL") if name == "both" else (name,)
    return body if link is None else {**body, **dict.fromkeys(names, link)}


def _note_job(connection: Connection, sandbox: Sandbox, job: Job, state: str | None = None) -> None:
    body = job_event(sandbox, job, state or job.state)
    note(
        connection,
        sandbox,
        chain=job.chain,
        operation="job_webhook",
        subject=job.job_id,
        event=state or job.state,
        body=body,
        vendor=job.vendor,
    )


def _deliveries(rule: Rule | None, now_us: int) -> list[dict[str, Any]]:
    plain: dict[str, Any] = {"state": "pending", "due_us": now_us, "fault": rule.kind if rule else None}
    if rule is None:
        return [plain]
    late_us = now_us + to_us(LATE_S if rule.seconds is None else rule.seconds)
    held_us = now_us + to_us(HELD_S if rule.seconds is None else rule.seconds)
    changed = {
        "lost": [{**plain, "state": "lost", "due_us": None}],
        "repeated": [plain] * (rule.count or COPIES),
        "late": [{**plain, "due_us": late_us}],
        "reordered": [{**plain, "due_us": held_us, "after_next": True}],
        "forged_secret": [{**plain, "authorization": FORGED, "once": True}, {**plain, "fault": None}],
    }
    return changed.get(rule.kind, [plain])


def _another(connection: Connection, chain: str, vendor: str) -> str:
    other = select(vendor_table.c.vendor).where(vendor_table.c.chain == chain, vendor_table.c.vendor != vendor)
    return connection.execute(other.order_by(vendor_table.c.vendor).limit(1)).scalar() or "another-vendor"


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {name: _renamed(inner, old, new) for name, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, old, new) for inner in value]
    return new if value == old else value
