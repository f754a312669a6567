"""Alerts `dag_off`, `dag_late` and `dag_failed`: which failures of a DAG another condition reports already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from shelfsync.alert_conditions.failed_while_away import while_away
from shelfsync.alerts.ledger import alerts
from shelfsync.catalog.ledger.tables import run
from shelfsync.catalog.state import RunState
from shelfsync.promotions.ledger.tables import promotion_run

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Collection

    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found


DAG_KINDS = ("dag_off", "dag_late", "dag_failed")


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
    """The kinds of conditions for which the DAG fails."""


FoundOfDags = Mapping[tuple[str, str], str | FailedDag]


def dags(seen: FoundOfDags, connection: Connection, found: Collection[str]) -> Found:
    """What is wrong with DAGs, without the failures that other conditions report. `found`: the kinds of conditions that there are now."""
    away = while_away(connection)
    return {
        key: one.line if isinstance(one, FailedDag) else one
        for key, one in seen.items()
        if not isinstance(one, FailedDag) or not _is_reported(one, connection, found, away)
    }


def _is_reported(one: FailedDag, connection: Connection, found: Collection[str], away: Callable[..., bool]) -> bool:
    """A service was away, the ledger has the run as failed, or a condition for which the DAG fails was open since it began."""
    if away(one.services, one.began_at, one.ended_at) or not {*one.kinds}.isdisjoint(found):
        return True
    for table in (run, promotion_run):
        ended = sa.select(table.c.state).where(table.c.run_key == one.run_key, table.c.finished_at.is_not(None))
        if connection.execute(ended).scalar_one_or_none() not in {None, RunState.SUCCEEDED}:
            return True
    return alerts.any_open_since(connection, one.kinds, one.began_at)
