"""normalise: raw rows to canonical ones; what cannot be sent goes to the quarantine with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import DataError
from shelfsync.flow.each_vendor import Done, Skip, StepReport, each_vendor
from shelfsync.flow.restore import restored
from shelfsync.ledger import vendor_runs
from shelfsync.warehouse import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_runs import VendorRun


def normalise(parts: Parts, run_id: int, vendors: Iterable[str]) -> StepReport:
    """Writes snapshot and quarantine of each vendor; a vendor of which every row is refused has failed."""

    def work(row: VendorRun) -> None:
        if row.raw_path is None:
            raise Skip("nothing was extracted")
        if row.snapshot_path is not None:
            raise Done
        _normalise_vendor(parts, row, row.raw_path)

    return each_vendor(parts, run_id, vendors, "normalise", work)


def _normalise_vendor(parts: Parts, row: VendorRun, raw_path: str) -> None:
    from shelfsync.catalog.normalise import normalise as pure

    platform = parts.settings.platform
    result = pure(parts.lake.read_table(raw_path), parts.settings.normalise, key=platform.key)
    snapshot, quarantine = result.snapshot, result.quarantine
    with parts.engine.begin() as connection:
        load.replace_quarantine(connection, row.run_id, row.vendor, quarantine)
        vendor_runs.write(
            connection, row.run_id, row.vendor, rows_snapshot=snapshot.num_rows, rows_quarantined=quarantine.num_rows
        )
    if snapshot.num_rows == 0:
        first = quarantine["message"][0].as_py() if quarantine.num_rows else "there was no row"
        raise DataError(
            f"every one of {quarantine.num_rows} rows was refused, the first because {first}; see warehouse.quarantine"
        )
    wanted, restorations = restored(parts, row.vendor, snapshot)
    snapshot_path = parts.lake.write_table("snapshot", row.vendor, wanted)
    erp_path = parts.lake.write_table("snapshot", row.vendor, snapshot) if restorations else None
    quarantine_path = parts.lake.write_table("quarantine", row.vendor, quarantine) if quarantine.num_rows else None
    with parts.engine.begin() as connection:
        vendor_runs.write(
            connection,
            row.run_id,
            row.vendor,
            snapshot_path=snapshot_path,
            erp_path=erp_path,
            restorations=restorations or None,
            quarantine_path=quarantine_path,
        )
