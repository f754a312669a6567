"""batch: the released delta as request bodies, committed to the ledger before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shelfsync.flow.each_vendor import Done, Skip, StepReport, each_vendor
from shelfsync.flow.halving import suspects
from shelfsync.ledger import batches, runs, vendor_runs, vendors
from shelfsync.ledger.instant import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.batch import Batch
    from shelfsync.catalog.halving import Suspect
    from shelfsync.catalog.urgency import Part
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.runs import Run
    from shelfsync.ledger.vendor_runs import VendorRun


def batch(parts: Parts, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the batches of each vendor and raises its fence; in a dry run only their number and size."""
    with parts.engine.connect() as connection:
        run = runs.read_run(connection, run_id)

    def work(row: VendorRun) -> None:
        if row.state in {"unchanged", "busy"}:
            raise Skip("nothing to send")
        if row.released_path is None:
            raise Skip("nothing was released")
        if row.batched_at is not None:
            raise Done
        _batch_vendor(parts, run, row, row.released_path)

    return each_vendor(parts, run_id, names, "batch", work)


class Cut(NamedTuple):
    """A request body: its items and bytes, its lane, how many items are of that lane, and the batch of whose search it is a piece."""

    piece: Batch
    lane: str
    urgent: int
    halved_from: int | None


def bodies(parts: Parts, rows: pa.Table, base_path: str | None, suspects: Sequence[Suspect] = ()) -> Iterator[Cut]:
    """The request bodies of rows (DELTA shape) in the order of leaving; `suspects`: where an earlier search for bad rows had come to."""
    from shelfsync.catalog.batch import cut
    from shelfsync.catalog.companion import alone
    from shelfsync.catalog.halving import parted
    from shelfsync.columns import BASELINE

    settings = parts.settings
    base = BASELINE.empty_table() if base_path is None else parts.lake.read_table(base_path)
    for part in _urgent_first(parts, rows, base):
        urgent = part.urgent
        for some, halved_from in parted(part.rows, suspects):
            for piece in cut(
                alone(some, base),
                key=settings.platform.key,
                sales_limit_name=settings.platform.sales_limit_name,
                body_bytes_max=settings.sync.body_bytes_max,
            ):
                yield Cut(piece, part.lane, min(urgent, piece.items.num_rows), halved_from)
                urgent -= min(urgent, piece.items.num_rows)


def pieces(
    parts: Parts,
    vendor: str,
    rows: pa.Table,
    base_path: str | None,
    suspects: Sequence[Suspect] = (),
    *,
    dry_run: bool = False,
) -> list[batches.Piece]:
    """The same as what the ledger plans, with the items in the lake; not those of a dry run."""
    found = []
    for piece, lane, urgent, halved_from in bodies(parts, rows, base_path, suspects):
        path = "" if dry_run else parts.lake.write_table("batch", vendor, piece.items)
        found.append(batches.Piece(path, piece.items.num_rows, piece.body_bytes, lane, urgent, halved_from=halved_from))
    return found


def _batch_vendor(parts: Parts, run: Run, row: VendorRun, released_path: str) -> None:
    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, row.vendor)
        searched = not (
            run.dry_run or run.full or run.skus
        )  # those try the whole again: something may have been put right
        left = suspects(parts, connection, row.vendor, before=row.generation) if searched else []
    rows, base_path = parts.lake.read_table(released_path), None if base is None else base.path
    found = pieces(parts, row.vendor, rows, base_path, left, dry_run=run.dry_run)
    plan = {"plan_batches": len(found), "plan_bytes": sum(piece.body_bytes for piece in found)}
    with parts.engine.begin() as connection:
        if run.dry_run:
            vendor_runs.write(connection, run.run_id, row.vendor, state="planned", **plan)
            return
        stale = _stale(connection, row)
        if stale:
            vendor_runs.write(connection, run.run_id, row.vendor, state="superseded", error=stale)
        else:
            _commit(connection, run, row, found, plan)
    if stale:
        raise Skip(stale)


def _urgent_first(parts: Parts, rows: pa.Table, base: pa.Table) -> list[Part]:
    from shelfsync.catalog.urgency import parts as in_parts

    return in_parts(
        rows,
        base,
        together_max=parts.settings.sync.together_rows_max,
        at_buffer=parts.settings.effect.at_buffer,
    )


def _stale(connection: Connection, row: VendorRun) -> str | None:
    """Why this snapshot may no longer be sent; the vendor stays locked until the transaction ends (I4, I5)."""
    stands = vendors.lock(connection, row.vendor)
    if stands.fence > row.generation:
        return f"a newer run has planned generation {stands.fence}, this one is {row.generation}; nothing older is sent"
    if stands.baseline_version != row.base_version:
        return f"the baseline moved from version {row.base_version} to {stands.baseline_version} meanwhile; the next run compares anew"
    return None


def _commit(connection: Connection, run: Run, row: VendorRun, found: list[batches.Piece], plan: dict[str, int]) -> None:
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
    vendor_runs.write(connection, run.run_id, row.vendor, batched_at=instant(), **plan)
