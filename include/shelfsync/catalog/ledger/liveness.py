"""Whether a run is alive: a process that waits for a run must know whether any process still works on it (I15).

Each process that works on a run holds a shared session lock on the run's number; the server frees it when the process dies.
The processes of one run may hold it side by side.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from shelfsync.catalog.ledger.tables import run, vendor_run
from shelfsync.store.instant import after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

log = logging.getLogger(__name__)

BETWEEN_TASKS_S = 120.0
"""A run of several processes (Airflow's tasks) without a lock is alive this long after its last write."""
HANGS_AFTER_S = 3600.0
"""A run that holds its lock and has written nothing for so long hangs. No process waits for it any longer."""
_KIND = 7_402_513
"""First half of the lock's key: separates these locks from all others of the database."""


@contextlib.contextmanager
def at_work(engine: Engine, run_id: int, *, whole: bool = False) -> Iterator[None]:
    """This process works on the run until the block ends. `whole`: no other process will, so the run dies with it."""
    key = {"kind": _KIND, "run": run_id}
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as session:
        session.execute(sa.text("SELECT pg_advisory_lock_shared(:kind, :run)"), key)
        if whole:
            session.execute(run.update().where(run.c.run_id == run_id).values(one_process=True))
        try:
            yield
        finally:
            try:
                session.execute(sa.text("SELECT pg_advisory_unlock_shared(:kind, :run)"), key)
            except DBAPIError as error:  # the session is gone, and the lock with it
                log.debug("run %d: the session is gone: %s", run_id, type(error.orig).__name__)
                session.invalidate()


def alive() -> sa.ColumnElement[bool]:
    """SQL: whether the run of the row at hand (of `ledger.run`) is alive."""
    locked = sa.text(
        "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        " AND classid = CAST(CAST(:kind AS bigint) AS oid) AND objid = CAST(run.run_id AS oid))"
    ).bindparams(kind=_KIND)
    every = vendor_run.alias("every_vendor")
    wrote_at = sa.func.greatest(
        run.c.started_at,
        sa.select(sa.func.max(every.c.updated_at))
        .where(every.c.run_id == run.c.run_id)
        .correlate(run)
        .scalar_subquery(),
    )
    at_work_now = sa.and_(locked, wrote_at > after(-HANGS_AFTER_S))
    between_tasks = sa.and_(sa.not_(run.c.one_process), wrote_at > after(-BETWEEN_TASKS_S))
    return sa.or_(at_work_now, between_tasks)
