"""The version of a vendor's baseline: the next one takes the place of the one in force, by compare and swap.

Which values it has, `catalog.baseline` decides; what computes it gets the version in force.

Acknowledge, reconcile and jobs that end as unconfirmed move it here alone. So a version, its files, its history and
`warehouse.baseline` are always committed together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows, last_known_rows
from shelfsync.catalog.baseline import changed_rows, known
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.schemas import BASELINE, completed
from shelfsync.store.compare_and_swap import attempts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease


@dataclass(frozen=True)
class Base:
    """The version in force (None: nothing was ever acknowledged) and its rows (BASELINE)."""

    version: BaselineVersion | None
    rows: pa.Table


@dataclass(frozen=True)
class Move:
    """The next version, by a job or by an observation."""

    rows: pa.Table | None
    """BASELINE; None: the version stays."""
    generation: int
    also: Callable[[Connection], None]
    """Writes what is committed with it."""
    report: Callable[[], None] = lambda: None
    """Logs it, after the commit."""
    job_id: int | None = None
    observation_id: int | None = None
    sent: pa.Table | None = None
    """DELTA. It passed the guards: where a SKU was never acknowledged, these values are the best known ones."""
    gone: Sequence[str] = ()
    """SKUs that neither the ERP nor the platform has."""
    has_outcome: bool = False
    """The platform reported an outcome for a SKU, which ends the vendor's consecutive failures."""


def move_baseline(
    context: Context,
    lease: Lease,
    vendor: str,
    compute: Callable[[Base], Move],
    *,
    still: Callable[[Connection], bool] = lambda _: True,
) -> bool:
    """Moves it under the lease, and computes again if another process moved it meanwhile.

    `still`: whether the move has yet to be made, read while the vendor is locked. False if it has not.
    """
    for _ in attempts(f"the baseline of vendor {vendor}"):
        version = vendors.current_baseline(lease.session, vendor)
        base = Base(version, completed(acknowledged_rows(context, vendor, version), BASELINE))
        move = compute(base)
        write = _written(context, vendor, base, move)
        with context.engine.begin() as connection:
            lease.hold(connection)
            locked = vendors.lock(connection, vendor)
            if not still(connection):
                return False
            if locked.baseline_version != (0 if base.version is None else base.version.version):
                continue
            write(connection)
            if move.has_outcome and locked.consecutive_failures:
                vendors.clear_failures(connection, vendor)
            move.also(connection)
        move.report()
        break
    return True


def _written(context: Context, vendor: str, base: Base, move: Move) -> Callable[[Connection], None]:
    """Writes the files of the next version. What is returned writes it to ledger and warehouse."""
    rows = move.rows
    if rows is None:
        return lambda _: None
    path = context.lake.write_table("baseline", vendor, rows)
    known_path = _write_known(context, vendor, base, rows, move.sent)
    changed = changed_rows(rows, base.rows, BASELINE.names[1:])

    def write(connection: Connection) -> None:
        vendors.move_baseline(
            connection,
            vendor,
            expected=0 if base.version is None else base.version.version,
            path=path,
            known_path=known_path,
            rows=rows.num_rows,
            generation=move.generation,
            job_id=move.job_id,
            observation_id=move.observation_id,
        )
        if move.job_id is not None:
            baseline_history.move_baseline(connection, move.job_id, vendor, changed, move.gone)
        elif move.observation_id is not None:
            baseline_history.correct_baseline(connection, move.observation_id, vendor, changed)

    return write


def _write_known(context: Context, vendor: str, base: Base, rows: pa.Table, sent: pa.Table | None) -> str | None:
    """Lake path of `rows` with unknown values filled from the last known ones, then from the sent ones; None if nothing is unknown."""
    version = base.version
    earlier = (
        base.rows
        if version is None or version.known_path == version.path
        else last_known_rows(context, vendor, version.known_path, base.rows)
    )
    filled = known(rows, earlier, *([] if sent is None else [sent]))
    return None if filled.equals(rows) else context.lake.write_table("known", vendor, filled)
