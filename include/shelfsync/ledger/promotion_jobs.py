"""Requests about promotions: one row each, committed before it leaves; what became of it is a fact of the platform's word alone (I2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.promotion_tables import OPEN_STATES, promotion, promotion_job

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_JOB = promotion_job.c


@dataclass(frozen=True)
class PromotionJob:
    """One row of `ledger.promotion_job` with the campaign; flags and seconds are by the database's clock."""

    job_id: int
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
    state: str
    platform_job_id: str | None
    platform_status: str | None
    result_path: str | None
    attempts: int
    polls: int
    sent: int
    error: str | None
    campaign: str
    over: bool
    poll_due: bool
    overdue: bool
    wait_s: float
    left_s: float


@dataclass(frozen=True)
class Making:
    """A request that makes a promotion, or says one again of which nobody knows what the platform holds."""

    state: str
    vendors: tuple[str, ...]
    there: bool
    """Whether the platform has the promotion, or may."""


def _select() -> sa.Select[Any]:
    now = instant()
    plain = [_JOB[name] for name in PromotionJob.__dataclass_fields__ if name in _JOB]
    return sa.select(
        *plain,
        promotion.c.campaign,
        (promotion.c.end_time <= now).label("over"),
        sa.func.coalesce(_JOB.next_poll_at <= now, sa.false()).label("poll_due"),
        sa.func.coalesce(_JOB.deadline_at <= now, sa.false()).label("overdue"),
        sa.func.greatest(0, sa.func.coalesce(sa.extract("epoch", _JOB.next_poll_at - now), 0)).label("wait_s"),
        sa.func.greatest(0, sa.func.coalesce(sa.extract("epoch", _JOB.deadline_at - now), 0)).label("left_s"),
    ).join(promotion, promotion.c.promotion_id == _JOB.promotion_id)


def _read(connection: Connection, statement: sa.Select[Any]) -> list[PromotionJob]:
    rows = connection.execute(statement.order_by(_JOB.job_id)).mappings()
    return [PromotionJob(**{**row, "wait_s": float(row["wait_s"]), "left_s": float(row["left_s"])}) for row in rows]


def plan(connection: Connection, values: list[dict[str, Any]]) -> None:
    """Commits the intention to send, in this order."""
    for row in values:
        connection.execute(promotion_job.insert().values(row))


def of_run(connection: Connection, run_id: int) -> list[PromotionJob]:
    """Every request of a run, in the order in which they are sent."""
    return _read(connection, _select().where(_JOB.run_id == run_id))


def to_send(connection: Connection) -> list[PromotionJob]:
    """What is planned, and what may have left and was never answered, of whatever run; in order."""
    return _read(connection, _select().where(_JOB.state.in_(("planned", "submitting"))))


def open_jobs(connection: Connection, *, run_id: int | None = None) -> list[PromotionJob]:
    """Every request that the platform has or may have, and of whose end nothing is known."""
    statement = _select().where(_JOB.state.in_(OPEN_STATES))
    return _read(connection, statement if run_id is None else statement.where(_JOB.run_id == run_id))


def makings(connection: Connection, job: PromotionJob) -> list[Making]:
    """The requests that make promotions of the same campaign in the same run: what this one may be replaced by."""
    in_doubt = sa.and_(_JOB.action == "change", promotion.c.wanted_path.is_(None))
    statement = (
        sa.select(_JOB.state, promotion.c.vendors, (promotion.c.state == "told").label("there"))
        .join(promotion, promotion.c.promotion_id == _JOB.promotion_id)
        .where(
            _JOB.run_id == job.run_id,
            promotion.c.campaign == job.campaign,
            sa.or_(_JOB.action == "create", in_doubt),
        )
    )
    return [Making(state, tuple(vendors), there) for state, vendors, there in connection.execute(statement)]


def read(connection: Connection, job_id: int) -> PromotionJob:
    """The request of this number."""
    return _read(connection, _select().where(_JOB.job_id == job_id))[0]


def lock(connection: Connection, job_id: int) -> PromotionJob:
    """The request of this number, kept from everybody else until the transaction ends."""
    connection.execute(sa.select(_JOB.job_id).where(_JOB.job_id == job_id).with_for_update())
    return read(connection, job_id)


def begin(connection: Connection, job_id: int, *, deadline_s: float) -> bool:
    """It is about to leave; the deadline is that of the first time. False: a newer plan has put something else in its place."""
    values = {
        "state": "submitting",
        "attempts": _JOB.attempts + 1,
        "deadline_at": sa.func.coalesce(_JOB.deadline_at, after(deadline_s)),
    }
    may_leave = promotion_job.update().where(_JOB.job_id == job_id, _JOB.state.in_(("planned", "submitting")))
    return connection.execute(may_leave.values(values)).rowcount == 1


def given_back(connection: Connection, job_id: int, error: str) -> None:
    """Nothing was done by the platform: it is planned again."""
    _write(connection, job_id, state="planned", error=error[:1000], deadline_at=None)


def answered(
    connection: Connection, job_id: int, *, platform_job_id: str, status: str | None, poll_after_s: float
) -> bool:
    """The platform took it; False when another request already has this number, so that the answer cannot be believed."""
    values = {
        "state": "open",
        "platform_job_id": platform_job_id,
        "platform_status": status,
        "answered_at": instant(),
        "next_poll_at": after(poll_after_s),
        "error": None,
    }
    try:
        with connection.begin_nested():
            _write(connection, job_id, **values)
    except IntegrityError:
        return False
    return True


def heard(
    connection: Connection, job_id: int, *, status: str | None, result_path: str | None, poll_after_s: float
) -> None:
    """What a status call said, and when to ask again."""
    values: dict[str, Any] = {"polls": _JOB.polls + 1, "next_poll_at": after(poll_after_s)}
    if status is not None:
        values["platform_status"] = status
    if result_path is not None:
        values["result_path"] = result_path
    _write(connection, job_id, **values)


def settled(
    connection: Connection,
    job_id: int,
    state: str,
    *,
    accepted: int,
    refused: int,
    unaccounted: int,
    error: str | None = None,
) -> None:
    """Ends it as acknowledged, refused or unconfirmed, with what became of its pairs."""
    values = {
        "accepted": accepted,
        "refused": refused,
        "unaccounted": unaccounted,
        "sent": accepted + refused + unaccounted,
    }
    _write(connection, job_id, state=state, error=error and error[:1000], settled_at=instant(), **values)


def superseded(connection: Connection, job_id: int, why: str) -> None:
    """It never left and need not any more."""
    _write(connection, job_id, state="superseded", error=why, settled_at=instant())


def _write(connection: Connection, job_id: int, **values: Any) -> None:
    connection.execute(promotion_job.update().where(_JOB.job_id == job_id).values(values))
