"""guard: what looks wrong is held as a slice, the rest goes on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync.flow.each_vendor import Skip, StepReport, each_vendor
from shelfsync.ledger import vendor_runs, vendors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_runs import VendorRun

log = logging.getLogger(__name__)


def guard(parts: Parts, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes the released part of each delta, and the held part when there is one."""

    def work(row: VendorRun) -> None:
        if row.delta_path is None or row.state in {"unchanged", "busy"}:
            raise Skip("nothing changed" if row.state == "unchanged" else "there is no delta")
        if row.batched_at is not None:
            raise Skip("its batches are committed; they stay as they are")
        _guard_vendor(parts, row, row.delta_path)

    return each_vendor(parts, run_id, names, "guard", work)


def _guard_vendor(parts: Parts, row: VendorRun, delta_path: str) -> None:
    from shelfsync.catalog.guard import guard as pure
    from shelfsync.columns import BASELINE

    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, row.vendor)
    held_against = BASELINE.empty_table() if base is None else parts.lake.read_table(base.path)
    verdict = pure(
        parts.lake.read_table(delta_path), held_against, removed_share_max=parts.settings.sync.removed_share_max
    )
    released, held = verdict.released, verdict.held
    values = {
        "released_path": parts.lake.write_table("released", row.vendor, released),
        "held_path": parts.lake.write_table("held", row.vendor, held) if held.num_rows else None,
        "changes_held": held.num_rows,
    }
    if held.num_rows:
        log.warning("guard: vendor %s: %d changes held: %s", row.vendor, held.num_rows, held["message"][0].as_py())
    if released.num_rows == 0:
        values["state"] = "unchanged"
    with parts.engine.begin() as connection:
        vendor_runs.write(connection, row.run_id, row.vendor, **values)
