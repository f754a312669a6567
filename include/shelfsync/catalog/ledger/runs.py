"""Runs: opened once by their key, closed by the report, and alive while a process works on them (I15).

A process that waits for a run must know whether any process still works on it. Each process that works on a run holds a shared session lock
on the run's number; the server frees it when the process dies. The processes of one run may hold it side by side.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger.tables import extract, run, vendor_run
from shelfsync.catalog.state import RunState
from shelfsync.errors import ShelfsyncError
from shelfsync.store.metadata import after, first_end, instant
from shelfsync.store.session_lock import unlock

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Engine


@dataclass(frozen=True)
class Run:
    """One run of the path."""

    run_id: int
    run_key: str
    kind: str
    dry_run: bool
    vendors: tuple[str, ...]
    skus: tuple[str, ...]
    state: RunState

    @property
    def full(self) -> bool:
        return self.kind == "full"


def open_run(
    connection: Connection,
    *,
    key: str,
    kind: str,
    vendors: tuple[str, ...],
    skus: tuple[str, ...] = (),
    dry_run: bool,
) -> int:
    """The number of the run of this key, new or known: a task that runs again is the same run, open again."""
    asked = {"kind": kind, "dry_run": dry_run, "vendors": list(vendors), "skus": list(skus)}
    values = {**asked, "run_key": key, "started_at": instant()}
    again = {**asked, "state": RunState.RUNNING, "error": None, "finished_at": None}
    statement = insert(run).values(values).on_conflict_do_update(index_elements=[run.c.run_key], set_=again)
    return int(connection.execute(statement.returning(run.c.run_id)).scalar_one())


def read_run(connection: Connection, run_id: int) -> Run:
    """The run of this number."""
    row = connection.execute(sa.select(run).where(run.c.run_id == run_id)).one_or_none()
    if row is None:
        raise ShelfsyncError(
            f"run {run_id}: the ledger does not know it. Start a new run; was the database replaced meanwhile?"
        )
    return Run(row.run_id, row.run_key, row.kind, row.dry_run, tuple(row.vendors), tuple(row.skus), RunState(row.state))


def of_key(connection: Connection, key: str) -> int | None:
    """The number of the run of this key; None: there is none."""
    found = connection.execute(sa.select(run.c.run_id).where(run.c.run_key == key)).scalar_one_or_none()
    return None if found is None else int(found)


def close_run(connection: Connection, run_id: int, *, state: RunState, error: str | None) -> None:
    """Ends a run in one of succeeded, partly_failed, failed."""
    values = {"state": state, "error": error, "finished_at": first_end(run.c.finished_at, run.c.state, state)}
    connection.execute(run.update().where(run.c.run_id == run_id).values(values))


def record_extract(
    connection: Connection,
    run_id: int,
    *,
    rows: int,
    rows_expected: int | None,
    proof: str,
    complete: bool,
    since: str | None = None,
) -> int:
    """One finished reading of the ERP; its number. `since`: no more than what changed since this cursor was read."""
    values = {
        "run_id": run_id,
        "rows": rows,
        "rows_expected": rows_expected,
        "proof": proof,
        "complete": complete,
        "since": since,
        "read_at": instant(),
    }
    return int(connection.execute(extract.insert().values(values).returning(extract.c.extract_id)).scalar_one())


def read_changes(connection: Connection, run_id: int) -> bool:
    """Whether the run read no more than what changed."""
    found = sa.select(extract.c.extract_id).where(extract.c.run_id == run_id, extract.c.since.is_not(None))
    return bool(connection.execute(sa.select(found.exists())).scalar_one())


def is_complete(connection: Connection, extract_id: int | None) -> bool:
    """Whether what is absent from that reading is absent from the ERP."""
    statement = sa.select(extract.c.complete).where(extract.c.extract_id == extract_id)
    return bool(connection.execute(statement).scalar_one_or_none())


def newest_reading(connection: Connection) -> dt.datetime | None:
    """When the last reading of the ERP ended; None: it was never read."""
    newest = sa.select(extract.c.read_at).order_by(extract.c.extract_id.desc()).limit(1)
    return connection.execute(newest).scalar_one_or_none()


BETWEEN_TASKS_S = 120.0
"""A run of several processes (Airflow's tasks) without a lock is alive this long after its last write."""
HANGS_AFTER_S = 3600.0
"""A run that holds its lock and has written nothing for so long hangs. No process waits for it any longer."""
_KIND = 7_402_513
"""First half of the lock's key: separates these locks from all others of the database."""


@contextlib.contextmanager
def at_work(engine: Engine, run_id: int, *, whole: bool = False) -> Iterator[None]:
    """This process works on the run until the block ends. `whole`: no other process will, so the run dies with it."""
    key = {"kind": _KIND, "number": run_id}
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as session:
        session.execute(sa.text("SELECT pg_advisory_lock_shared(:kind, :number)"), key)
        if whole:
            session.execute(run.update().where(run.c.run_id == run_id).values(one_process=True))
        try:
            yield
        finally:
            unlock(session, "pg_advisory_unlock_shared", **key)


def any_delta_alive(connection: Connection) -> bool:
    """Whether a delta that sends is open, and a process works on it or did a moment ago."""
    mine = (run.c.kind == "delta", run.c.state == RunState.RUNNING, sa.not_(run.c.dry_run), alive())
    return bool(connection.execute(sa.select(sa.select(run.c.run_id).where(*mine).exists())).scalar_one())


def next_delta_s(connection: Connection, run_id: int, *, every_s: float) -> float | None:
    """Seconds until the delta after this one is due; None: this is no open delta of whole vendors, so no other delta waits for it."""
    left = sa.extract("epoch", run.c.started_at - after(-every_s))
    mine = (run.c.kind == "delta", run.c.state == RunState.RUNNING, sa.func.cardinality(run.c.skus) == 0)
    found = connection.execute(sa.select(left).where(run.c.run_id == run_id, *mine)).scalar_one_or_none()
    return None if found is None else float(found)


def living(connection: Connection) -> list[int]:
    """The runs that have not ended and are alive; no dry run."""
    known = (run.c.state == RunState.RUNNING, sa.not_(run.c.dry_run), alive())
    return list(connection.execute(sa.select(run.c.run_id).where(*known)).scalars())


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
