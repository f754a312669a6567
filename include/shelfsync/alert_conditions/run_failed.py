"""Alerts `run_failed` and `campaigns_failed`: the newest run of a kind failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from shelfsync import outages
from shelfsync.alert_conditions.failed_while_away import while_away
from shelfsync.catalog.ledger.tables import run
from shelfsync.promotions.ledger.tables import promotion_run

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


class Failed(NamedTuple):
    """A run that failed as a whole, the newest of its kind that has ended."""

    run_id: int
    kind: str
    error: str | None
    started_at: dt.datetime
    finished_at: dt.datetime


def newest_failed(connection: Connection) -> list[Failed]:
    columns = (run.c.run_id, run.c.kind, run.c.error, run.c.started_at, run.c.finished_at)
    ended = sa.and_(run.c.finished_at.is_not(None), ~run.c.dry_run)
    newest = sa.select(*columns, run.c.state).where(ended).ext(distinct_on(run.c.kind))
    found = connection.execute(newest.order_by(run.c.kind, run.c.run_id.desc()))
    return [Failed(*row[:-1]) for row in found if row.state == "failed"]


def run_failed(context: Context, connection: Connection) -> Found:
    """Kinds of runs whose newest ended one failed as a whole, unless a service was away meanwhile: that is a condition itself.

    Of campaigns a part is enough: a store that cannot be read has no condition of its own.
    """
    away = while_away(connection)
    found = {
        ("run_failed", one.kind): f"run {one.run_id} ({one.kind}) failed{_why(one.error, 'runs show')}"
        for one in newest_failed(connection)
        if not away((outages.PLATFORM, outages.ERP), one.started_at, one.finished_at)
    }
    over = sa.and_(promotion_run.c.finished_at.is_not(None), ~promotion_run.c.dry_run)
    newest = sa.select(promotion_run).where(over).order_by(promotion_run.c.run_id.desc()).limit(1)
    for row in connection.execute(newest) if context.settings.promotions.configured else ():
        if row.state in {"failed", "partly_failed"} and not away(
            (outages.PLATFORM, outages.PROMOTIONS), row.started_at, row.finished_at
        ):
            how = "failed" if row.state == "failed" else "failed in part"
            found["campaigns_failed", ""] = (
                f"run {row.run_id} of promotions {how}{_why(row.error, 'promotions status')}"
            )
    return found


def _why(error: str | None, command: str) -> str:
    """The end of the sentence. `command`: what shows more."""
    return f": {error}" if error else f" (`shelfsync {command}`)"
