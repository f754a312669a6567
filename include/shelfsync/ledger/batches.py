"""Batches: one row a request body, committed before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger.tables import OPEN_JOB_STATES, batch, job

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class PlannedBatch:
    """A body that may be sent, as pointers."""

    batch_id: int
    run_id: int
    vendor: str
    generation: int
    base_version: int
    sequence: int
    items_path: str
    snapshot_path: str
    item_count: int
    body_bytes: int
    state: str


_COLUMNS = [batch.c[name] for name in PlannedBatch.__dataclass_fields__]


def plan(
    connection: Connection,
    *,
    run_id: int,
    vendor: str,
    generation: int,
    base_version: int,
    snapshot_path: str,
    pieces: list[tuple[str, int, int]],
) -> None:
    """Writes the batches of one vendor and generation (path, items, bytes each); older ones that were never sent are superseded."""
    older = batch.update().where(batch.c.vendor == vendor, batch.c.generation < generation, batch.c.state == "planned")
    connection.execute(older.values(state="superseded"))
    common = {
        "run_id": run_id,
        "vendor": vendor,
        "generation": generation,
        "base_version": base_version,
        "snapshot_path": snapshot_path,
    }
    _insert(connection, common, pieces, first=1)


def split(connection: Connection, whole: PlannedBatch, pieces: list[tuple[str, int, int]]) -> None:
    """Puts smaller batches (path, items, bytes each) in the place of one that was refused as a whole; they are sent after the others."""
    set_state(connection, whole.batch_id, "refused")
    same = (batch.c.run_id == whole.run_id, batch.c.vendor == whole.vendor, batch.c.generation == whole.generation)
    last = connection.execute(sa.select(sa.func.max(batch.c.sequence)).where(*same)).scalar_one()
    common = {
        "run_id": whole.run_id,
        "vendor": whole.vendor,
        "generation": whole.generation,
        "base_version": whole.base_version,
        "snapshot_path": whole.snapshot_path,
    }
    _insert(connection, common, pieces, first=last + 1)


def append(
    connection: Connection,
    *,
    run_id: int,
    vendor: str,
    generation: int,
    base_version: int,
    snapshot_path: str,
    pieces: list[tuple[str, int, int]],
) -> None:
    """Writes batches (path, items, bytes each) after those that the run has for this vendor and generation already."""
    same = (batch.c.run_id == run_id, batch.c.vendor == vendor, batch.c.generation == generation)
    last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(batch.c.sequence), 0)).where(*same)).scalar_one()
    common = {
        "run_id": run_id,
        "vendor": vendor,
        "generation": generation,
        "base_version": base_version,
        "snapshot_path": snapshot_path,
    }
    _insert(connection, common, pieces, first=last + 1)


def next_planned(connection: Connection, vendor: str, *, run_id: int | None = None) -> PlannedBatch | None:
    """The batch of this vendor that is to be sent next, of one run or of any."""
    statement = sa.select(*_COLUMNS).where(batch.c.vendor == vendor, batch.c.state == "planned")
    if run_id is not None:
        statement = statement.where(batch.c.run_id == run_id)
    statement = statement.order_by(batch.c.generation.desc(), batch.c.sequence).limit(1)
    row = connection.execute(statement).mappings().one_or_none()
    return None if row is None else PlannedBatch(**row)


def read(connection: Connection, batch_id: int) -> PlannedBatch:
    """The batch of this number."""
    row = connection.execute(sa.select(*_COLUMNS).where(batch.c.batch_id == batch_id)).mappings().one()
    return PlannedBatch(**row)


def set_state(connection: Connection, batch_id: int, state: str) -> None:
    """Moves one batch to planned, sent, done, superseded or refused."""
    connection.execute(batch.update().where(batch.c.batch_id == batch_id).values(state=state))


def supersede_generation(connection: Connection, vendor: str, generation: int) -> None:
    """Gives up what is still planned of one generation."""
    statement = batch.update().where(
        batch.c.vendor == vendor, batch.c.generation == generation, batch.c.state == "planned"
    )
    connection.execute(statement.values(state="superseded"))


def supersede_waiting(connection: Connection, vendor: str | None) -> list[tuple[int, str]]:
    """Gives up what is planned of one vendor or of all, and has not begun to leave; (run, vendor) of what it was."""
    begun = sa.exists().where(job.c.batch_id == batch.c.batch_id, job.c.state.in_(OPEN_JOB_STATES))
    statement = batch.update().where(batch.c.state == "planned", ~begun)
    if vendor is not None:
        statement = statement.where(batch.c.vendor == vendor)
    rows = connection.execute(statement.values(state="superseded").returning(batch.c.run_id, batch.c.vendor))
    return sorted({(row.run_id, row.vendor) for row in rows})


def vendors_with_planned(connection: Connection) -> list[tuple[int, str]]:
    """(run, vendor) of everything that is planned and was not sent."""
    statement = sa.select(batch.c.run_id, batch.c.vendor).where(batch.c.state == "planned").distinct()
    return [(row.run_id, row.vendor) for row in connection.execute(statement.order_by(batch.c.run_id, batch.c.vendor))]


def _insert(connection: Connection, common: dict[str, Any], pieces: list[tuple[str, int, int]], *, first: int) -> None:
    rows = [
        {**common, "sequence": number, "items_path": path, "item_count": items, "body_bytes": size}
        for number, (path, items, size) in enumerate(pieces, start=first)
    ]
    if rows:
        connection.execute(batch.insert(), rows)
