"""Batches: one row a request body, committed before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from shelfsync.catalog.ledger.tables import batch, extract, plan_sequence, run, vendor_run
from shelfsync.catalog.state import PRIORITIES, BatchState
from shelfsync.catalog.whose_turn import Turn
from shelfsync.platform.jobs.table import OPEN_STATES, State, job
from shelfsync.store.bulk import among

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy.engine import Connection


class Piece(NamedTuple):
    """A body to plan: its file, its items and bytes, its priority, how many of its items are of that priority, and since when they are wanted."""

    path: str
    item_count: int
    body_bytes: int
    priority: str = "catalog"
    urgent_count: int = 0
    wanted_at: dt.datetime | None = None
    halved_from: int | None = None


@dataclass(frozen=True)
class PlannedBatch:
    """A body that may be sent, as pointers."""

    batch_id: int
    run_id: int
    vendor: str
    generation: int
    base_version: int
    plan: int
    sequence: int
    items_path: str
    snapshot_path: str
    item_count: int
    body_bytes: int
    priority: str
    urgent_count: int
    wanted_at: dt.datetime | None
    halved_from: int | None
    state: BatchState


_COLUMNS = [batch.c[name] for name in PlannedBatch.__dataclass_fields__]


def plan(
    connection: Connection,
    *,
    run_id: int,
    vendor: str,
    generation: int,
    base_version: int,
    snapshot_path: str,
    pieces: Sequence[Piece | tuple[str, int, int]],
) -> None:
    """Writes the batches of one vendor and generation; older ones that were never sent are superseded."""
    supersede_older(connection, vendor, generation)
    common = {
        "run_id": run_id,
        "vendor": vendor,
        "generation": generation,
        "base_version": base_version,
        "snapshot_path": snapshot_path,
        "plan": _next_plan(connection),
    }
    _insert(connection, common, pieces, first=1)


def split(connection: Connection, whole: PlannedBatch, pieces: list[tuple[str, int, int]]) -> None:
    """Replaces a failed batch by smaller ones (path, items, bytes each) of its priority."""
    set_state(connection, whole.batch_id, BatchState.REJECTED)
    append(
        connection,
        run_id=whole.run_id,
        vendor=whole.vendor,
        generation=whole.generation,
        base_version=whole.base_version,
        snapshot_path=whole.snapshot_path,
        number=whole.plan,
        pieces=[
            Piece(*piece, whole.priority, min(piece[1], whole.urgent_count), whole.wanted_at, whole.batch_id)
            for piece in pieces
        ],
    )


def append(
    connection: Connection,
    *,
    run_id: int,
    vendor: str,
    generation: int,
    base_version: int,
    snapshot_path: str,
    pieces: list[Piece],
    number: int | None = None,
) -> None:
    """Writes batches after those that the run has for this vendor and generation already, of the plan of this number or of a new one."""
    same = (batch.c.run_id == run_id, batch.c.vendor == vendor, batch.c.generation == generation)
    last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(batch.c.sequence), 0)).where(*same)).scalar_one()
    common = {
        "run_id": run_id,
        "vendor": vendor,
        "generation": generation,
        "base_version": base_version,
        "snapshot_path": snapshot_path,
        "plan": _next_plan(connection) if number is None else number,
    }
    _insert(connection, common, pieces, first=last + 1)


def others_left(one: PlannedBatch) -> sa.Exists:
    """Whether something else of its vendor and run is still to be sent or still with the platform, as a condition of a statement."""
    mine = (batch.c.vendor == one.vendor, batch.c.run_id == one.run_id, batch.c.batch_id != one.batch_id)
    open_job = sa.exists().where(job.c.batch_id == batch.c.batch_id, job.c.state.in_(OPEN_STATES))
    others = sa.select(batch.c.batch_id).where(*mine, sa.or_(batch.c.state == BatchState.PLANNED, open_job))
    return others.exists()


def searched(connection: Connection, batch_ids: Iterable[int]) -> set[int]:
    """The batches that these are halves of and whose job ended without an outcome."""
    mine = sa.select(batch.c.halved_from).where(batch.c.batch_id.in_(list(batch_ids)))
    failed = sa.select(job.c.batch_id).where(job.c.batch_id.in_(mine), job.c.state == State.UNCONFIRMED)
    return set(connection.execute(failed).scalars())


def planned(connection: Connection, vendor: str, run_id: int) -> list[PlannedBatch]:
    """What a run has left to send for a vendor of its newest generation, in the order of planning."""
    mine = (batch.c.vendor == vendor, batch.c.state == BatchState.PLANNED, batch.c.run_id == run_id)
    statement = sa.select(*_COLUMNS).where(*mine).order_by(batch.c.generation.desc(), batch.c.sequence)
    rows = _read(connection, statement)
    return [row for row in rows if row.generation == rows[0].generation]


def halves_planned(connection: Connection, names: Collection[str]) -> list[PlannedBatch]:
    """Halves of these vendors that were never sent, of any generation."""
    statement = sa.select(*_COLUMNS).where(
        among(batch.c.vendor, names), batch.c.state == BatchState.PLANNED, batch.c.halved_from.is_not(None)
    )
    return _read(connection, statement.order_by(batch.c.batch_id))


def count_planned(connection: Connection) -> dict[str, int]:
    """How many bodies of any run are still to be sent, by vendor."""
    statement = (
        sa.select(batch.c.vendor, sa.func.count()).where(batch.c.state == BatchState.PLANNED).group_by(batch.c.vendor)
    )
    return {vendor: int(count) for vendor, count in connection.execute(statement)}


def rank() -> sa.ColumnElement[int]:
    """The place of a batch's priority in the order of leaving, from 0; unknown words last."""
    return sa.case(
        {priority: place for place, priority in enumerate(PRIORITIES)}, value=batch.c.priority, else_=len(PRIORITIES)
    )


def waiting(connection: Connection, run_id: int) -> list[Turn]:
    """What a run has left to send: a turn for each vendor and priority."""
    statement = (
        sa.select(batch.c.vendor, batch.c.priority, sa.func.min(batch.c.wanted_at))
        .where(batch.c.run_id == run_id, batch.c.state == BatchState.PLANNED)
        .group_by(batch.c.vendor, batch.c.priority)
    )
    return [Turn(*row) for row in connection.execute(statement)]


def wanted_since(connection: Connection, vendor: str, generation: int) -> dt.datetime | None:
    """When the ERP made its first change since the vendor was last in step, if it reports that, else when it was first read since; up to this generation.

    A time of the ERP after the reading is one of a wrong clock: the reading counts.
    """
    found = connection.execute(_WANTED_SINCE, {"of_vendor": vendor, "up_to": generation})
    return found.scalar_one_or_none()


def _wanted_since() -> sa.Select[Any]:
    row, of, vendor = vendor_run.c, run.c, sa.bindparam("of_vendor", type_=sa.Text)
    ended = row.state.in_(("acknowledged", "unchanged"))
    in_step = (
        sa.select(row.generation)
        .join(run, of.run_id == row.run_id)
        .where(row.vendor == vendor, ended, sa.not_(of.dry_run), of.skus == [])
        .order_by(row.generation.desc())
        .limit(1)
    )
    return (
        sa.select(sa.func.min(sa.func.least(extract.c.read_at, row.changed_at)))
        .join(vendor_run, row.extract_id == extract.c.extract_id)
        .join(run, of.run_id == row.run_id)
        .where(row.vendor == vendor, sa.not_(of.dry_run))
        .where(row.generation <= sa.bindparam("up_to", type_=sa.BigInteger))
        .where(row.generation > sa.func.coalesce(in_step.scalar_subquery(), 0))
    )


_WANTED_SINCE = _wanted_since()


def read(connection: Connection, batch_id: int) -> PlannedBatch:
    """The batch of this number."""
    return _read(connection, sa.select(*_COLUMNS).where(batch.c.batch_id == batch_id))[0]


def _read(connection: Connection, statement: sa.Select[Any]) -> list[PlannedBatch]:
    rows = connection.execute(statement).mappings()
    return [PlannedBatch(**{**row, "state": BatchState(row["state"])}) for row in rows]


def set_state(connection: Connection, batch_id: int, state: BatchState) -> None:
    """Moves one batch to planned, sent, done, superseded or rejected."""
    connection.execute(moved(batch_id, state))


def moved(batch_id: int, state: BatchState) -> sa.Update:
    """The same as a part of another statement."""
    return batch.update().where(batch.c.batch_id == batch_id).values(state=state)


def supersede_older(connection: Connection, vendor: str, generation: int) -> None:
    """Gives up what is still planned of older generations than this one."""
    older = batch.update().where(
        batch.c.vendor == vendor, batch.c.generation < generation, batch.c.state == BatchState.PLANNED
    )
    connection.execute(older.values(state=BatchState.SUPERSEDED))


def supersede_generation(connection: Connection, vendor: str, generation: int) -> None:
    """Gives up what is still planned of one generation."""
    statement = batch.update().where(
        batch.c.vendor == vendor, batch.c.generation == generation, batch.c.state == BatchState.PLANNED
    )
    connection.execute(statement.values(state=BatchState.SUPERSEDED))


def supersede_waiting(connection: Connection, vendor: str | None) -> list[tuple[int, str, int]]:
    """Gives up what is planned of one vendor or of all, and has not begun to leave; (run, vendor, generation) of what it was."""
    begun = sa.exists().where(job.c.batch_id == batch.c.batch_id, job.c.state.in_(OPEN_STATES))
    statement = batch.update().where(batch.c.state == BatchState.PLANNED, ~begun)
    if vendor is not None:
        statement = statement.where(batch.c.vendor == vendor)
    statement = statement.values(state=BatchState.SUPERSEDED)
    rows = connection.execute(statement.returning(batch.c.run_id, batch.c.vendor, batch.c.generation))
    return sorted({(row.run_id, row.vendor, row.generation) for row in rows})


def vendors_with_planned(connection: Connection) -> list[tuple[int, str]]:
    """(run, vendor) of everything that is planned and was not sent."""
    statement = sa.select(batch.c.run_id, batch.c.vendor).where(batch.c.state == BatchState.PLANNED).distinct()
    return [(row.run_id, row.vendor) for row in connection.execute(statement.order_by(batch.c.run_id, batch.c.vendor))]


def _next_plan(connection: Connection) -> int:
    return int(connection.execute(sa.select(plan_sequence.next_value())).scalar_one())


def _insert(
    connection: Connection, common: dict[str, Any], pieces: Sequence[Piece | tuple[str, int, int]], *, first: int
) -> None:
    named = [Piece(*piece)._asdict() for piece in pieces]
    rows = [
        {**common, **piece, "items_path": piece["path"], "sequence": number}
        for number, piece in enumerate(named, start=first)
    ]
    for row in rows:
        del row["path"]
    if rows:
        connection.execute(batch.insert(), rows)
