"""When the platform or the ERP was away: from the first request without an answer to the next answer. Who meets it stores it, so that people
see it afterwards too.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display
from shelfsync.errors import BrokenOffError, DataError, TryAgainError, UnreachableError, without_stop
from shelfsync.store.metadata import after, count, identity, instant, metadata, moment, text, written

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator

    from sqlalchemy.engine import Connection, Engine

log = logging.getLogger(__name__)

PLATFORM, ERP, PROMOTIONS = "platform", "ERP", "source of promotions"

_NOT_STORED = (sa.exc.DBAPIError, sa.exc.TimeoutError)
SAME_S = 120.0
"""An answer between failures that are closer than this does not end an outage: a service that comes and goes has one outage."""
SHOWN_FROM_S = 15.0
"""A shorter outage that is over is kept, and no report names it: a repeat of the request healed it."""

outage = sa.Table(
    "outage",
    metadata,
    identity("outage_id", "Number of the outage"),
    text("service", "Who was away: platform, ERP, source of promotions", nullable=False),
    written("began_at", "The first request without an answer"),
    written("failed_at", "The last request without an answer"),
    count("failures", "Requests without an answer"),
    text("error", "What the last of them met, in one line", nullable=False),
    moment("ended_at", "The next answer that was stored; null: none yet"),
    sa.Index("uq_outage_open", "service", unique=True, postgresql_where=sa.text("ended_at IS NULL")),
    sa.Index("ix_outage_began_at", "began_at"),
    schema="ledger",
    comment="One row an outage of the platform or the ERP, as requests met it",
)


def failed(engine: Engine, service: str, error: str) -> None:
    """A request had no answer: an outage begins, or goes on. Never fails."""
    column = outage.c
    values = {"failed_at": instant(), "failures": column.failures + 1, "error": without_stop(error, 300)}
    going_on = sa.or_(column.ended_at.is_(None), column.ended_at > after(-SAME_S))
    newest = sa.select(column.outage_id).where(column.service == service, going_on)
    newest = newest.order_by(column.outage_id.desc()).limit(1)
    with _never_failing(service), engine.begin() as connection:
        connection.execute(sa.text("LOCK TABLE ledger.outage IN SHARE ROW EXCLUSIVE MODE"))  # rare, and two begin one
        known = connection.execute(newest).scalar_one_or_none()
        if known is None:
            connection.execute(outage.insert().values(service=service, **values | {"failures": 1}))
        else:
            again = outage.update().where(column.outage_id == known)
            connection.execute(again.values(ended_at=None, **values))


def answered(engine: Engine, service: str) -> bool:
    """An answer came: an outage ends, if there is one. Never fails; False: the database did not store it."""
    try:
        if _ended(engine, service):
            log.info("the %s answers again", service)
    except _NOT_STORED as error:
        _report_not_stored(service, error)
        return False
    return True


def not_asked(engine: Engine, service: str) -> None:
    """The settings do not name the service any more, so it gives no answer that would end its outage: that is over. Never fails."""
    with _never_failing(service):
        if _ended(engine, service):
            log.info("the %s is asked no more: its outage is over", service)


def _ended(engine: Engine, service: str) -> bool:
    """Ends the outage of a service; whether there was one."""
    going_on = outage.update().where(outage.c.service == service, outage.c.ended_at.is_(None))
    with engine.begin() as connection:
        return bool(connection.execute(going_on.values(ended_at=instant())).rowcount)


@contextlib.contextmanager
def _never_failing(service: str) -> Iterator[None]:
    """Who talks to a service has its answer, or its error: neither is lost because our own database is away too."""
    try:
        yield
    except _NOT_STORED as error:
        _report_not_stored(service, error)


def _report_not_stored(service: str, error: Exception) -> None:
    log.warning("outages: whether the %s answers was not stored: %s", service, type(error).__name__)


def going_on(engine: Engine, service: str) -> float | None:
    """Seconds between the first and the last request without an answer, of an outage that is not over; None: there is none."""
    column = outage.c
    lasts_s = sa.extract("epoch", column.failed_at - column.began_at)
    with engine.connect() as connection:
        found = connection.execute(sa.select(lasts_s).where(column.service == service, column.ended_at.is_(None)))
        seconds = found.scalar_one_or_none()
    return None if seconds is None else float(seconds)


@contextlib.contextmanager
def erp_asked(engine: Engine, service: str = ERP, *, ends: bool = True) -> Iterator[None]:
    """Around a reading of the ERP and nothing else: stores whether the ERP answered.

    `ends`: False for a question of a few rows. Its failure begins an outage; its answer ends none, because a whole reading may still break off.
    """
    try:
        yield
    except (UnreachableError, BrokenOffError, TryAgainError) as error:
        failed(engine, service, str(error))
        raise
    except DataError:  # it answered, with data that cannot be used
        if ends:
            answered(engine, service)
        raise
    if ends:
        answered(engine, service)


def since(
    connection: Connection, start: dt.datetime | sa.ColumnElement[Any], until: dt.datetime | None = None
) -> list[dict[str, Any]]:
    """Outages that were not over at `start`, and had begun by `until`, oldest first: the columns of `ledger.outage`, and `lasted_s`.

    Those that a repeat healed are left out. An outage without an end lasts until now.
    """
    column = outage.c
    lasted_s = sa.extract("epoch", sa.func.coalesce(column.ended_at, instant()) - column.began_at)
    statement = (
        sa.select(outage, lasted_s.label("lasted_s"))
        .where(sa.or_(column.ended_at.is_(None), column.ended_at > start))
        .where(sa.or_(column.ended_at.is_(None), lasted_s >= SHOWN_FROM_S))
        .where(sa.true() if until is None else column.began_at <= until)
        .order_by(column.outage_id)
    )
    rows = connection.execute(statement).mappings()
    return [{**row, "lasted_s": float(row["lasted_s"])} for row in rows]


def lately(connection: Connection, *, hours: float = 24) -> list[dict[str, Any]]:
    """The same of the last hours."""
    return since(connection, after(-hours * 3600))


def lines(found: Iterable[dict[str, Any]]) -> list[str]:
    """A line for each, for a person."""
    return [_line(row) for row in found]


def _line(row: dict[str, Any]) -> str:
    requests = "1 request" if row["failures"] == 1 else f"{row['failures']:,} requests"
    began, last = (display.instant(row[name]) for name in ("began_at", "failed_at"))
    failures = f"{requests} had no answer, the last at {last}: {row['error']}"
    if row["ended_at"] is None:
        return f"the {row['service']} is away since {began} ({failures}). Each run tries again by itself"
    return f"the {row['service']} was away from {began} to {display.instant(row['ended_at'])} ({failures})"
