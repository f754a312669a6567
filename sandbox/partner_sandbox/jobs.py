"""A job from its making to its end (interface.md 2.2, 3.3).

QUEUED when made, IN_PROGRESS half-way to its end, COMPLETED or FAILED at it, all by the platform's clock.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from fastapi import Request

from partner_sandbox.clock import SECOND_US, to_us
from partner_sandbox.errors import ApiError
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.storage import metadata
from partner_sandbox.vendors import Vendor

job = sa.Table(
    "job",
    metadata,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("job_id", sa.Text, nullable=False, unique=True),
    sa.Column("chain", sa.Text, nullable=False),
    sa.Column("vendor_key", sa.Integer, comment="null for jobs of the whole chain"),
    sa.Column("vendor", sa.Text),
    sa.Column("kind", sa.Text, nullable=False, comment="update, export, creation, promotion"),
    sa.Column("state", sa.Text, nullable=False, comment="RECEIVING, QUEUED, IN_PROGRESS, COMPLETED, FAILED, DUPLICATE"),
    sa.Column("created_us", sa.Integer, nullable=False),
    sa.Column("due_us", sa.Integer, comment="when its next step falls due; null: never"),
    sa.Column("finish_us", sa.Integer, nullable=False, comment="when it is to be done"),
    sa.Column("ended_us", sa.Integer),
    sa.Column("items", sa.Integer, nullable=False, default=0),
    sa.Column("rejected", sa.Integer, nullable=False, default=0),
    sa.Column("address", sa.Text, nullable=False, comment="the service's address as the request knew it"),
    sa.Column("file", sa.Text, comment="the name its log or export is fetched by"),
    sa.Column("link_ends_us", sa.Integer, comment="when the link stops working"),
    sa.Column("link", sa.Text, comment="an address to give instead of the real one"),
    sa.Column("announced", sa.Boolean, nullable=False, default=False, comment="its event went out before it ended"),
    sa.Column("payload", sa.JSON, comment="what the job was asked, for kinds without items"),
    sa.Column("result", sa.JSON, comment="what came out besides the items"),
    sa.Index("job_by_due", "due_us"),
    sqlite_autoincrement=True,
)

job_item = sa.Table(
    "job_item",
    metadata,
    sa.Column("job_seq", sa.Integer, sa.ForeignKey("job.seq"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, comment="position in the request, from 0"),
    sa.Column("sku", sa.Text),
    sa.Column("barcode", sa.Text, comment="padded to 14 digits"),
    sa.Column("quantity", sa.Integer, comment="compared with the buffer, then forgotten"),
    sa.Column("price_milli", sa.Integer),
    sa.Column("active", sa.Boolean),
    sa.Column("sales_limit", sa.Integer),
    sa.Column("error", sa.Text, comment="null while and when all is well"),
    sa.Column("product_id", sa.Integer, comment="found when the job runs"),
    sa.Column("wave", sa.Integer, comment="1 for the first item of a product within a piece, 2 for the next"),
    sqlite_with_rowid=False,
)


OPEN = ("QUEUED", "IN_PROGRESS")
WITHOUT_FILE = (*OPEN, "FAILED")
"""A file announced before its job had run is not there yet, or never will be."""
FIRST_NUMBER = 700_000_000
"""From where job ids count in dialects in which they are numbers."""


@dataclass(frozen=True)
class Job:
    """A row of the table job; its kind defines `payload` and `result`."""

    seq: int
    job_id: str
    chain: str
    vendor_key: int | None
    vendor: str | None
    kind: str
    state: str
    created_us: int
    due_us: int | None
    finish_us: int
    ended_us: int | None
    items: int
    rejected: int
    address: str
    file: str | None
    link_ends_us: int | None
    link: str | None
    announced: bool
    payload: Any
    result: Any


def receive(
    connection: sa.Connection,
    sandbox: Sandbox,
    kind: str,
    address: str,
    *,
    vendor: Vendor | None = None,
    chain: str | None = None,
    payload: Any = None,
) -> Job:
    """Begins a job of a vendor or of a whole chain. It is invisible until `queue`."""
    now_us = sandbox.clock.now_us()
    row = {
        "job_id": sandbox.ids.uuid(),
        "chain": vendor.chain if vendor else chain,
        "vendor_key": vendor.key if vendor else None,
        "vendor": vendor.vendor if vendor else None,
        "kind": kind,
        "state": "RECEIVING",
        "created_us": now_us,
        "finish_us": now_us,
        "address": address,
        "payload": payload,
    }
    made = connection.execute(job.insert().values(row)).inserted_primary_key
    assert made is not None
    if sandbox.behaviour.job_id_type == "integer":
        change(connection, made[0], job_id=str(FIRST_NUMBER + made[0]))
    return by_seq(connection, made[0])


def queue(connection: sa.Connection, sandbox: Sandbox, seq: int, items: int, seconds: float | None = None) -> Job:
    """QUEUED from now, with its end `seconds` (job_seconds) away; wake the platform's work after the transaction."""
    now_us = sandbox.clock.now_us()
    whole_us = to_us(sandbox.behaviour.job_seconds if seconds is None else seconds)
    values = {
        "state": "QUEUED",
        "items": items,
        "created_us": now_us,
        "due_us": now_us + whole_us // 2,
        "finish_us": now_us + whole_us,
    }
    connection.execute(sa.update(job).where(job.c.seq == seq).values(values))
    return by_seq(connection, seq)


def by_seq(connection: sa.Connection, seq: int) -> Job:
    """A job by its number; 503 if a reset deleted it during a request."""
    found = _first(connection, job.c.seq == seq)
    if found is None:
        raise ApiError(503, "RESET", "The platform was reset")
    return found


def by_id(connection: sa.Connection, chain: str, job_id: str) -> Job | None:
    """A job of this chain that has been queued."""
    return _first(connection, job.c.chain == chain, job.c.job_id == job_id, job.c.state != "RECEIVING")


def by_file(connection: sa.Connection, file: str) -> Job | None:
    """The job whose log or export has this name."""
    return _first(connection, job.c.file == file)


def due(connection: sa.Connection, now_us: int) -> list[Job]:
    """Jobs with a step that is due, in the order of their creation."""
    rows = connection.execute(
        sa.select(job).where(job.c.due_us <= now_us, job.c.state.in_(OPEN)).order_by(job.c.due_us, job.c.seq)
    )
    return [_job(row) for row in rows]


def next_due_us(connection: sa.Connection) -> int | None:
    """When the next step of any job falls due."""
    found: int | None = connection.execute(
        sa.select(sa.func.min(job.c.due_us)).where(job.c.state.in_(OPEN))
    ).scalar_one()
    return found


def before(connection: sa.Connection, of: Job) -> Job:
    """The previous job of the same chain; the job itself if it is the first."""
    return _first(connection, job.c.chain == of.chain, job.c.seq < of.seq, job.c.kind == of.kind) or of


def shown_id(sandbox: Sandbox, of: Job) -> str | int:
    """The job's id in the type of the dialect."""
    return int(of.job_id) if sandbox.behaviour.job_id_type == "integer" and of.job_id.isdecimal() else of.job_id


def file_name(sandbox: Sandbox) -> str:
    """A name for a job's file that cannot be guessed."""
    return f"{sandbox.ids.uuid()}.csv"


def change(connection: sa.Connection, seq: int, **values: Any) -> bool:
    """Changes a job; False if a reset deleted it."""
    return bool(connection.execute(sa.update(job).where(job.c.seq == seq).values(values)).rowcount)


def end(connection: sa.Connection, seq: int, **values: Any) -> bool:
    """Ends an open job; False if it has ended already or a reset deleted it."""
    ended = sa.update(job).where(job.c.seq == seq, job.c.state.in_(OPEN)).values(values)
    return bool(connection.execute(ended).rowcount)


def forget_unqueued(connection: sa.Connection) -> None:
    """Deletes the jobs of requests that a stopped server did not read to their end."""
    for row in connection.execute(sa.select(job.c.seq).where(job.c.state == "RECEIVING")).all():
        forget(connection, row.seq)


JOBS_MAX = 10_000
"""Ended jobs that the platform remembers, so that a soak needs no more memory."""


def forget_old(connection: sa.Connection, seq: int) -> None:
    """Deletes ended jobs far behind this one, from time to time."""
    if seq % 1_000:
        return
    old = sa.select(job.c.seq).where(job.c.seq <= seq - JOBS_MAX, job.c.state.not_in((*OPEN, "RECEIVING")))
    connection.execute(sa.delete(job_item).where(job_item.c.job_seq.in_(old)))
    connection.execute(sa.delete(job).where(job.c.seq.in_(old)))


def forget(connection: sa.Connection, seq: int) -> None:
    """Deletes the job, as if the request never arrived."""
    connection.execute(sa.delete(job_item).where(job_item.c.job_seq == seq))
    connection.execute(sa.delete(job).where(job.c.seq == seq))


def count_rejected(connection: sa.Connection, seq: int) -> None:
    """Stores the number of items that the job rejected."""
    rejected = (
        sa.select(sa.func.count()).where(job_item.c.job_seq == seq, job_item.c.error.is_not(None)).scalar_subquery()
    )
    connection.execute(sa.update(job).where(job.c.seq == seq).values(rejected=rejected))


def _first(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> Job | None:
    """The newest job that fits."""
    row = connection.execute(sa.select(job).where(*where).order_by(job.c.seq.desc()).limit(1)).one_or_none()
    return None if row is None else _job(row)


def _job(row: sa.Row[Any]) -> Job:
    return Job(**row._mapping)  # noqa: SLF001  SQLAlchemy's documented name


def has_sku(sandbox: Sandbox, seq: int, sku: str) -> bool:
    """Whether a job has an item of this SKU."""
    asked = sa.select(sa.func.count()).select_from(job_item).where(job_item.c.job_seq == seq, job_item.c.sku == sku)
    with sandbox.storage.begin() as connection:
        return bool(connection.execute(asked).scalar_one())


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
