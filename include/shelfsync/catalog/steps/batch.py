"""batch: turns the released delta into request bodies, and commits them to the ledger before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shelfsync.catalog.bisection import split_at
from shelfsync.catalog.bodies import cut
from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.catalog.ledger import batches, runs, vendors
from shelfsync.catalog.priority_split import parts as in_parts
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps.each_vendor import each_vendor, write
from shelfsync.catalog.steps.rejected_batch import suspects
from shelfsync.schemas import BASELINE
from shelfsync.store.metadata import instant
from shelfsync.vendors.step_report import Done, Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.bisection import SuspectBatch
    from shelfsync.catalog.bodies import Batch
    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.catalog.priority_split import Part
    from shelfsync.context import Context


def batch(context: Context, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the batches of each vendor and raises its fence; in a dry run only their number and size."""
    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)

    known: dict[str, BaselineVersion] = {}
    halves: list[PlannedBatch] = []

    def ahead(connection: Connection, found: Collection[str]) -> None:
        known.update(vendors.current_baselines(connection, found))
        halves[:] = batches.halves_planned(connection, found)

    def read(_: Connection, row: VendorRun) -> _Facts:
        if row.state in {VendorState.UNCHANGED, VendorState.BUSY}:
            raise Skip("nothing to send")
        if row.released_path is None:
            raise Skip("nothing was released")
        if row.batched_at is not None:
            raise Done
        again = run.dry_run or run.full or run.skus  # they retry the whole batch: the cause may have been corrected
        older = (half for half in halves if half.vendor == row.vendor and half.generation < row.generation)
        return _Facts(run, known.get(row.vendor), [] if again else suspects(context, older))

    def work(row: VendorRun, facts: _Facts) -> None:
        _batch_vendor(context, row, row.released_path or "", facts)

    # it calls `work` with what `read` found, for each vendor in turn
    return each_vendor(context, run_id, names, "batch", read, work, ahead=ahead)


class _Facts(NamedTuple):
    """The ledger's facts: the run, the vendor's baseline, and the halves of an unfinished bisection."""

    run: Run
    base: BaselineVersion | None
    left: Sequence[SuspectBatch]


class Cut(NamedTuple):
    """A request body: its items and bytes, its priority, the number of items of that priority, and the batch it is a half of."""

    piece: Batch
    priority: str
    urgent: int
    halved_from: int | None


def bodies(
    context: Context, rows: pa.Table, base_path: str | None, suspects: Sequence[SuspectBatch] = ()
) -> Iterator[Cut]:
    """The request bodies of rows (DELTA schema) in sending order; `suspects`: the halves of an unfinished bisection."""
    settings = context.settings
    base = context.lake.read_or_empty(base_path, BASELINE)
    for part in _urgent_first(context, rows, base):
        urgent = part.urgent
        for some, halved_from in split_at(part.rows, suspects):
            for piece in cut(
                with_active_if_single(some, base),
                key=settings.platform.item_key,
                sales_limit_name=settings.platform.sales_limit_name,
                body_max_bytes=settings.sync.body_max_bytes,
            ):
                yield Cut(piece, part.priority, min(urgent, piece.items.num_rows), halved_from)
                urgent -= min(urgent, piece.items.num_rows)


def pieces(
    context: Context,
    vendor: str,
    rows: pa.Table,
    base_path: str | None,
    suspects: Sequence[SuspectBatch] = (),
    *,
    rows_path: str | None = None,
    dry_run: bool = False,
) -> list[batches.Piece]:
    """The same for the ledger, with the items in the lake. `rows_path`: there are the rows already. A dry run writes no items."""
    found = []
    for piece, priority, urgent, halved_from in bodies(context, rows, base_path, suspects):
        if dry_run:
            path = ""
        elif rows_path is not None and piece.items.equals(rows):
            path = rows_path
        else:
            path = context.lake.write_table("batch", vendor, piece.items)
        found.append(
            batches.Piece(path, piece.items.num_rows, piece.body_bytes, priority, urgent, halved_from=halved_from)
        )
    return found


def _batch_vendor(context: Context, row: VendorRun, released_path: str, facts: _Facts) -> None:
    run, base, left = facts
    rows, base_path = context.lake.read_table(released_path), None if base is None else base.path
    found = pieces(context, row.vendor, rows, base_path, left, rows_path=released_path, dry_run=run.dry_run)
    plan = {"plan_batches": len(found), "plan_bytes": sum(piece.body_bytes for piece in found)}
    with context.engine.begin() as connection:
        if run.dry_run:
            write(connection, row, state=VendorState.PLANNED, **plan)
            return
        stale = _stale(connection, row)
        if stale:
            write(connection, row, state=VendorState.SUPERSEDED, error=stale)
        else:
            _commit(connection, run, row, found, plan)
    if stale:
        raise Skip(stale)


def _urgent_first(context: Context, rows: pa.Table, base: pa.Table) -> list[Part]:
    return in_parts(
        rows,
        base,
        together_max=context.settings.sync.priority_split_skus,
        at_buffer=context.settings.suppression.at_buffer,
    )


def _stale(connection: Connection, row: VendorRun) -> str | None:
    """Why this snapshot may no longer be sent; the vendor stays locked until the transaction ends (I4, I5)."""
    locked = vendors.lock(connection, row.vendor)
    if locked.fence > row.generation:
        return f"a newer run has planned generation {locked.fence}, this one is {row.generation}; nothing older is sent"
    if locked.baseline_version != row.base_version:
        return f"the baseline moved from version {row.base_version} to {locked.baseline_version} meanwhile; the next run compares again"
    return None


def _commit(connection: Connection, run: Run, row: VendorRun, found: list[batches.Piece], plan: dict[str, int]) -> None:
    write(connection, row, batched_at=instant(), **plan)
    vendors.raise_fence(connection, row.vendor, row.generation)
    since = batches.wanted_since(connection, row.vendor, row.generation)
    batches.plan(
        connection,
        run_id=run.run_id,
        vendor=row.vendor,
        generation=row.generation,
        base_version=row.base_version or 0,
        snapshot_path=row.snapshot_path or "",
        pieces=[piece._replace(wanted_at=since) for piece in found],
    )
