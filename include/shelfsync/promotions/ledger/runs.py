"""Runs of the promotions' path: opened by their key, planned in the order of their extracts, closed by the report."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.errors import ShelfsyncError
from shelfsync.platform.jobs.job import reason_of
from shelfsync.promotions.ledger.tables import promotion_fence, promotion_generation, promotion_run
from shelfsync.store.metadata import first_end, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Engine


@dataclass(frozen=True)
class PromotionRun:
    """One row of `ledger.promotion_run`."""

    run_id: int
    run_key: str
    dry_run: bool
    state: str
    error: str | None
    generation: int | None
    manifest_path: str | None
    complete: bool | None
    report: dict[str, Any] | None
    planned_at: dt.datetime | None
    started_at: dt.datetime


def open_run(connection: Connection, *, key: str, dry_run: bool) -> int:
    """The number of the run of this key, new or known: a task that runs again is the same run, open again."""
    statement = insert(promotion_run).values(run_key=key, dry_run=dry_run)
    again = {"dry_run": dry_run, "state": sa.case((promotion_run.c.planned_at.is_(None), "running"), else_="planned")}
    statement = statement.on_conflict_do_update(
        index_elements=[promotion_run.c.run_key], set_={**again, "error": None, "finished_at": None}
    )
    return int(connection.execute(statement.returning(promotion_run.c.run_id)).scalar_one())


def read(connection: Connection, run_id: int) -> PromotionRun:
    """The run of this number."""
    columns = [promotion_run.c[name] for name in PromotionRun.__dataclass_fields__]
    row = connection.execute(sa.select(*columns).where(promotion_run.c.run_id == run_id)).mappings().one_or_none()
    if row is None:
        raise ShelfsyncError(f"promotion run {run_id}: the ledger does not know it. Start a new run.")
    return PromotionRun(**row)


def extracted(connection: Connection, run_id: int, *, manifest_path: str, proof: str, complete: bool) -> None:
    """The extract is complete: stores its files and its place in the order of all extracts."""
    values = {
        "generation": promotion_generation.next_value(),
        "manifest_path": manifest_path,
        "proof": proof,
        "complete": complete,
        "error": None,
    }
    connection.execute(_of(run_id).values(values))


@contextmanager
def cause_kept(engine: Engine, run_id: int) -> Iterator[None]:
    """If the step raises an error, the run keeps it as its cause for the report, which another process may write."""
    try:
        yield
    except Exception as error:
        with suppress(Exception), engine.begin() as connection:  # if the ledger is away too, the first error counts
            connection.execute(_of(run_id).values(error=reason_of(error)))
        raise


def pass_fence(connection: Connection, generation: int) -> bool:
    """Moves the fence to this generation; False if a newer one was planned. The fence stays locked until the transaction ends."""
    connection.execute(insert(promotion_fence).values(one=True).on_conflict_do_nothing())
    fence = connection.execute(sa.select(promotion_fence.c.generation).with_for_update()).scalar_one()
    if fence > generation:
        return False
    connection.execute(promotion_fence.update().values(generation=generation))
    return True


def planned(connection: Connection, run_id: int, report: dict[str, Any]) -> None:
    """Marks the run as planned: its requests are committed."""
    values = {"state": "planned", "error": None, "report": report, "planned_at": instant()}
    connection.execute(_of(run_id).values(values))


def newest_planned(connection: Connection) -> dt.datetime | None:
    """When the last run began that planned something to send; None: none has."""
    row = promotion_run.c
    begun = sa.select(row.started_at).where(row.planned_at.is_not(None), ~row.dry_run)
    return connection.execute(begun.order_by(row.run_id.desc()).limit(1)).scalar_one_or_none()


def close(connection: Connection, run_id: int, *, state: str, error: str | None) -> None:
    """Ends a run."""
    row = promotion_run.c
    values = {"state": state, "error": error, "finished_at": first_end(row.finished_at, row.state, state)}
    connection.execute(_of(run_id).values(values))


def _of(run_id: int) -> sa.Update:
    return promotion_run.update().where(promotion_run.c.run_id == run_id)
