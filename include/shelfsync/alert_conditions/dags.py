"""Alerts `dag_off`, `dag_late` and `dag_failed`: a DAG is off, does not run at its time, or fails, and no other condition reports that."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import sqlalchemy as sa

from shelfsync.alert_conditions.failed_while_away import while_away
from shelfsync.alerts.ledger import alerts
from shelfsync.catalog.ledger.tables import run
from shelfsync.catalog.state import RunState
from shelfsync.promotions.ledger.tables import promotion_run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found


DAG_KINDS = ("dag_off", "dag_late", "dag_failed")
LATE = dt.timedelta(hours=1)
"""The scheduler starts a run within seconds; after so long it does not."""


class FailedDag(NamedTuple):
    """What is wrong, of a DAG whose newest ended run failed, and what shows whether another condition reports that."""

    line: str
    run_key: str
    """The name of this run in the ledger, if its DAG has runs there."""
    began_at: dt.datetime
    ended_at: dt.datetime
    services: tuple[str, ...]
    """Those that the DAG asks."""
    kinds: tuple[str, ...]
    """The kinds of conditions for which the DAG fails as long as they last."""
    news: tuple[str, ...]
    """Those for which only the run fails that reports them first."""


FoundOfDags = Mapping[tuple[str, str], str | FailedDag]


class EndedRun(Protocol):
    """A run of a DAG, as Airflow knows it."""

    @property
    def state(self) -> Any: ...

    @property
    def logical_date(self) -> dt.datetime | None: ...

    @property
    def run_after(self) -> dt.datetime: ...


Run = TypeVar("Run", bound=EndedRun)


def off_or_late(
    dag_id: str, *, is_off: bool, due: dt.datetime | None, at_work: bool, option: str, now: dt.datetime
) -> FoundOfDags:
    """What is wrong with a DAG that has run before. `due`: its next run. `option`: its schedule. A long run delays the next one: no fault."""
    if is_off:
        line = (
            f"{dag_id} is off in Airflow, and it has run before. If that is on purpose, give it no schedule"
            f" (AIRFLOW__SHELFSYNC__{option.upper()}=none)"
        )
        return {("dag_off", dag_id): line}
    if due is not None and now - due > LATE and not at_work:
        line = f"{dag_id} is on and was due at {due:%Y-%m-%d %H:%M} UTC, and Airflow has not started it"
        return {("dag_late", dag_id): line}
    return {}


def newest_failure(newest: Callable[[str | None], Run | None]) -> Run | None:
    """The newest ended run of a DAG, if it failed. `newest`: the newest one in a state, or in any.

    Airflow orders runs by their logical date, and leaves out one without such a date.
    """
    last = newest(None)
    if last is None or last.state == "success":
        return None
    failed = last if last.state == "failed" else newest("failed")
    if failed is None or failed is last:
        return failed
    succeeded = newest("success")
    return failed if succeeded is None or _date(succeeded) < _date(failed) else None


def _date(run: EndedRun) -> dt.datetime:
    return run.logical_date or run.run_after


def dags(seen: FoundOfDags, connection: Connection, found: Collection[str]) -> Found:
    """What is wrong with DAGs, without the failures that other conditions report. `found`: the kinds of conditions that there are now."""
    away = while_away(connection)
    return {
        key: one.line if isinstance(one, FailedDag) else one
        for key, one in seen.items()
        if not isinstance(one, FailedDag) or not _is_reported(one, connection, found, away)
    }


def _is_reported(one: FailedDag, connection: Connection, found: Collection[str], away: Callable[..., bool]) -> bool:
    """A service was away, the ledger has the run as failed, or a condition for which the DAG fails was open since it began.

    An older alert is no reason of a run that would fail for a new one alone, unless the ledger has that run as succeeded: it came to its
    report then, and an alert that got worse is reported again.
    """
    if away(one.services, one.began_at, one.ended_at):
        return True
    states = {_ended_as(connection, table, one.run_key) for table in (run, promotion_run)} - {None}
    if states - {RunState.SUCCEEDED}:
        return True
    kinds = {*one.kinds, *(one.news if states else ())}
    if not kinds.isdisjoint(found) or alerts.any_open_since(connection, kinds, one.began_at):
        return True
    return alerts.any_opened_since(connection, one.news, one.began_at)


def _ended_as(connection: Connection, table: sa.Table, run_key: str) -> str | None:
    ended = sa.select(table.c.state).where(table.c.run_key == run_key, table.c.finished_at.is_not(None))
    state: str | None = connection.execute(ended).scalar_one_or_none()
    return state
