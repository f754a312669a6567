"""Jobs about promotions: one a request, planned with its run, committed again before it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from shelfsync.platform.jobs import job as row
from shelfsync.platform.jobs.table import WAITING, Kind, State, job
from shelfsync.promotions.known_promotion import campaigns_of
from shelfsync.promotions.ledger.tables import promotion, promotion_request
from shelfsync.store.bulk import among, insertion
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

_REQUEST = promotion_request.c


@dataclass(frozen=True)
class PromotionJob(row.Job):
    """A job with its row of `ledger.promotion_request` and the campaign."""

    request_id: int
    promotion_id: int
    run_id: int
    action: str
    piece: int
    pieces: int
    header: dict[str, Any]
    items_path: str | None
    wanted_path: str | None
    body_path: str
    body_bytes: int
    skus: int
    vendors: int
    sent: int
    campaign: str
    over: bool
    """The promotion has ended by its own window."""

    @property
    def name(self) -> str:
        return f"promotions, campaign {self.campaign}, job {self.job_id}"


@dataclass(frozen=True)
class Making:
    """A request that creates a promotion, or sends an unconfirmed one again."""

    state: State
    vendors: tuple[str, ...]
    there: bool
    """Whether the platform has the promotion, or may have it."""

    @property
    def has_failed(self) -> bool:
        """Rejected, or without a confirmation."""
        return self.state in {State.REJECTED, State.UNCONFIRMED}

    @property
    def is_open(self) -> bool:
        """Not confirmed yet."""
        return self.state in {State.PLANNED, *WAITING}

    @property
    def is_confirmed(self) -> bool:
        """Acknowledged with what the platform reported."""
        return self.state == State.ACKNOWLEDGED


def _select() -> sa.Select[Any]:
    names = [name for name in PromotionJob.__dataclass_fields__ if name in _REQUEST]
    of_job = [column for column in row.columns(PromotionJob) if column.name not in names]
    return _joined(
        *of_job,
        *(_REQUEST[name] for name in names),
        promotion.c.campaign,
        (promotion.c.end_time <= instant()).label("over"),
    )


def _joined(*columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    requests = sa.select(*columns).join(promotion_request, _REQUEST.request_id == job.c.request_id)
    return requests.join(promotion, promotion.c.promotion_id == _REQUEST.promotion_id).where(
        job.c.kind == Kind.PROMOTION
    )


def _read(connection: Connection, statement: sa.Select[Any]) -> list[PromotionJob]:
    return row.read_all(connection, statement.order_by(job.c.job_id), PromotionJob)


def plan(connection: Connection, requests: list[dict[str, Any]]) -> None:
    """Commits the intention to send, in this order. `requests`: columns of `ledger.promotion_request`, and `sent`, the pairs in it."""
    if not requests:
        return
    of_requests = [{name: value for name, value in values.items() if name != "sent"} for values in requests]
    numbers = connection.execute(insertion(promotion_request, of_requests).returning(_REQUEST.request_id)).scalars()
    planned = [
        {"kind": Kind.PROMOTION, "state": State.PLANNED, "request_id": number, "sent": values["sent"]}
        for number, values in zip(numbers, requests, strict=True)
    ]
    connection.execute(insertion(job, planned))


def of_run(connection: Connection, run_id: int) -> list[PromotionJob]:
    """Every request of a run, in the order in which they are sent."""
    return _read(connection, _select().where(_REQUEST.run_id == run_id))


def to_send(connection: Connection) -> list[PromotionJob]:
    """Planned requests, and those that may have been sent without an answer; of every run, in order."""
    return _read(connection, _select().where(job.c.state.in_((State.PLANNED, State.SUBMITTING))))


def open_jobs(connection: Connection, *, run_id: int | None = None) -> list[PromotionJob]:
    """Every request that the platform has or may have, and whose end is unknown."""
    statement = _select().where(job.c.state.in_(WAITING))
    return _read(connection, statement if run_id is None else statement.where(_REQUEST.run_id == run_id))


def makings(connection: Connection, of: PromotionJob) -> list[Making]:
    """The requests of the same run that make promotions of a campaign of this one: what this one may be replaced by.

    A change counts if the promotion is not known to be there, or if the change adds such a campaign to it.
    """
    leaving = {of.campaign, *campaigns_of(of.header)}
    header = _REQUEST.header
    of_campaign = sa.or_(
        header["campaign"].astext.in_(leaving), header["also"].has_any(sa.cast(list(leaving), ARRAY(sa.Text)))
    )
    unknown = sa.or_(_REQUEST.action == "create", promotion.c.wanted_path.is_(None)).label("unknown")
    there = (promotion.c.state == "sent").label("there")
    columns = (job.c.state, promotion.c.vendors, there, unknown, header, promotion.c.header.label("before"))
    statement = _joined(*columns).where(_REQUEST.run_id == of.run_id, _REQUEST.action != "end", of_campaign)
    return [
        Making(State(row.state), tuple(row.vendors), row.there)
        for row in connection.execute(statement)
        if row.unknown or leaving & campaigns_of(row.header) - campaigns_of(row.before)
    ]


def read_all(connection: Connection, job_ids: Sequence[int]) -> list[PromotionJob]:
    """The jobs of these numbers, in their order."""
    return _read(connection, _select().where(among(job.c.job_id, job_ids)))


def read(connection: Connection, job_id: int) -> PromotionJob:
    """The job of this number."""
    return read_all(connection, [job_id])[0]


def lock(connection: Connection, job_ids: Sequence[int]) -> list[PromotionJob]:
    """The jobs of these numbers, in their order; no other transaction moves them until this one ends."""
    rows = sa.select(job.c.job_id).where(among(job.c.job_id, job_ids))
    connection.execute(rows.order_by(job.c.job_id).with_for_update())
    return read_all(connection, job_ids)


def with_more_to_come(connection: Connection, jobs: Sequence[PromotionJob]) -> set[int]:
    """The promotions of these jobs, one each, about which another request of the same run is not acknowledged."""
    of_promotion = among(_REQUEST.promotion_id, [each.promotion_id for each in jobs])
    others = sa.select(_REQUEST.promotion_id, _REQUEST.run_id).join(job, job.c.request_id == _REQUEST.request_id)
    others = others.where(of_promotion, job.c.state != State.ACKNOWLEDGED)
    others = others.where(sa.not_(among(job.c.job_id, [each.job_id for each in jobs])))
    runs = {each.promotion_id: each.run_id for each in jobs}
    return {promotion_id for promotion_id, run_id in connection.execute(others) if runs[promotion_id] == run_id}


def attempt(connection: Connection, job_id: int, *, deadline_s: float) -> bool:
    """Marks the job as about to be sent; its deadline stays that of the first attempt. False: a newer plan has superseded it."""
    return row.attempt(connection, job_id, deadline_at=sa.func.coalesce(job.c.deadline_at, after(deadline_s)))


def supersede_planned(connection: Connection) -> int:
    """Supersedes planned requests of older plans that were never sent; returns how many."""
    older = job.update().where(job.c.kind == Kind.PROMOTION, job.c.state == State.PLANNED)
    values = {"state": State.SUPERSEDED, "error": "a newer run has planned", "ended_at": instant()}
    return int(connection.execute(older.values(values)).rowcount)
