"""Runs: opened once by their key, closed by the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger.tables import extract, run
from shelfsync.catalog.state import RunState
from shelfsync.errors import ShelfsyncError
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


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
    again = {**asked, "state": "running", "error": None, "finished_at": None}
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


def close_run(connection: Connection, run_id: int, *, state: RunState, error: str | None) -> None:
    """Ends a run in one of succeeded, partly_failed, failed."""
    values = {"state": state, "error": error, "finished_at": instant()}
    connection.execute(run.update().where(run.c.run_id == run_id).values(values))


def record_extract(
    connection: Connection, run_id: int, *, rows: int, rows_expected: int | None, proof: str, complete: bool
) -> int:
    """One finished reading of the ERP; its number."""
    values = {
        "run_id": run_id,
        "rows": rows,
        "rows_expected": rows_expected,
        "proof": proof,
        "complete": complete,
        "read_at": instant(),
    }
    return int(connection.execute(extract.insert().values(values).returning(extract.c.extract_id)).scalar_one())


def is_complete(connection: Connection, extract_id: int | None) -> bool:
    """Whether what is absent from that reading is absent from the ERP."""
    found = connection.execute(
        sa.select(extract.c.complete).where(extract.c.extract_id == extract_id)
    ).scalar_one_or_none()
    return bool(found)
