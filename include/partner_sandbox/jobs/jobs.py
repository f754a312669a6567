"""A job from its making to its end (interface.md 2.2, 3.3).

QUEUED when made, IN_PROGRESS half-way to its end, COMPLETED or FAILED at it, all by the platform's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from partner_sandbox.access.callers import Vendor
from partner_sandbox.clock import to_us
from partner_sandbox.errors import ApiError
from partner_sandbox.jobs.tables import job, job_item
from partner_sandbox.sandbox import Sandbox

OPEN = ("QUEUED", "IN_PROGRESS")
WITHOUT_FILE = (*OPEN, "FAILED")
"""A file announced before its job had run is not there yet, or never will be."""
FIRST_NUMBER = 700_000_000
"""From where job ids count in dialects in which they are numbers."""


@dataclass(frozen=True)
class Job:
    """A row of the table job; `payload` and `result` are what its kind makes of them."""

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
    refused: int
    address: str
    file: str | None
    link_ends_us: int | None
    link: str | None
    told: bool
    payload: Any
    result: Any


def receive(
    connection: Connection,
    sandbox: Sandbox,
    kind: str,
    address: str,
    *,
    vendor: Vendor | None = None,
    chain: str | None = None,
    payload: Any = None,
) -> Job:
    """Begins a job of a vendor or of a whole chain; it is not queued yet, and nothing sees it until `queue`."""
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
        "items": 0,
        "refused": 0,
        "told": False,
        "address": address,
        "payload": payload,
    }
    made = connection.execute(job.insert().values(row)).inserted_primary_key
    assert made is not None
    if sandbox.behaviour.job_id_type == "integer":
        change(connection, made[0], job_id=str(FIRST_NUMBER + made[0]))
    return by_seq(connection, made[0])


def queue(connection: Connection, sandbox: Sandbox, seq: int, items: int, seconds: float | None = None) -> Job:
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
    connection.execute(update(job).where(job.c.seq == seq).values(values))
    return by_seq(connection, seq)


def by_seq(connection: Connection, seq: int) -> Job:
    """A job by its number; 503 when a reset has forgotten it in the middle of a request."""
    row = connection.execute(select(job).where(job.c.seq == seq)).one_or_none()
    if row is None:
        raise ApiError(503, "RESET", "The platform was reset")
    return _job(row)


def by_id(connection: Connection, chain: str, job_id: str) -> Job | None:
    """A job of this chain that has been queued."""
    row = connection.execute(
        select(job).where(job.c.chain == chain, job.c.job_id == job_id, job.c.state != "RECEIVING")
    ).one_or_none()
    return None if row is None else _job(row)


def by_file(connection: Connection, file: str) -> Job | None:
    """The job whose log or export has this name."""
    row = connection.execute(select(job).where(job.c.file == file)).one_or_none()
    return None if row is None else _job(row)


def due(connection: Connection, now_us: int) -> list[Job]:
    """Jobs with a step that is due, in the order in which they were made."""
    rows = connection.execute(
        select(job).where(job.c.due_us <= now_us, job.c.state.in_(OPEN)).order_by(job.c.due_us, job.c.seq)
    )
    return [_job(row) for row in rows]


def next_due_us(connection: Connection) -> int | None:
    """When the next step of any job falls due."""
    found: int | None = connection.execute(select(func.min(job.c.due_us)).where(job.c.state.in_(OPEN))).scalar_one()
    return found


def before(connection: Connection, of: Job) -> Job:
    """The job made before this one in the same chain; itself when it is the first."""
    earlier = select(job).where(job.c.chain == of.chain, job.c.seq < of.seq, job.c.kind == of.kind)
    row = connection.execute(earlier.order_by(job.c.seq.desc()).limit(1)).one_or_none()
    return of if row is None else _job(row)


def file_name(sandbox: Sandbox) -> str:
    """A name for a job's file that nobody guesses."""
    return f"{sandbox.ids.uuid()}.csv"


def change(connection: Connection, seq: int, **values: Any) -> bool:
    """Changes a job; False when a reset has forgotten it."""
    return bool(connection.execute(update(job).where(job.c.seq == seq).values(values)).rowcount)


def forget_unqueued(connection: Connection) -> None:
    """Requests that a stopped server had not read to their end."""
    for row in connection.execute(select(job.c.seq).where(job.c.state == "RECEIVING")).all():
        forget(connection, row.seq)


def forget(connection: Connection, seq: int) -> None:
    """As if the request had never come."""
    connection.execute(delete(job_item).where(job_item.c.job_seq == seq))
    connection.execute(delete(job).where(job.c.seq == seq))


def count_refused(connection: Connection, seq: int) -> None:
    """Writes down how many items the job refused."""
    refused = select(func.count()).where(job_item.c.job_seq == seq, job_item.c.error.is_not(None)).scalar_subquery()
    connection.execute(update(job).where(job.c.seq == seq).values(refused=refused))


def _job(row: Row[Any]) -> Job:
    return Job(**row._mapping)  # noqa: SLF001  SQLAlchemy's documented name


def has_sku(sandbox: Sandbox, seq: int, sku: str) -> bool:
    """Whether a job has an item of this SKU."""
    asked = select(func.count()).select_from(job_item).where(job_item.c.job_seq == seq, job_item.c.sku == sku)
    with sandbox.storage.begin() as connection:
        return bool(connection.execute(asked).scalar_one())
