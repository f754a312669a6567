"""normalise: turns raw rows into canonical ones. A row that cannot be sent goes to the quarantine with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync import logs
from shelfsync.catalog.assortment import product_names
from shelfsync.catalog.assortment.known_skus import known_files, known_skus
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.ledger.restorations import in_force
from shelfsync.catalog.steps import same_rows
from shelfsync.catalog.steps.each_vendor import each_vendor, write
from shelfsync.catalog.steps.restore import restored
from shelfsync.catalog.warehouse import missed_changes, quarantine
from shelfsync.errors import DataError
from shelfsync.vendors.step_report import Done, Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.assortment.known_skus import KnownFiles
    from shelfsync.catalog.ledger.restorations import Restoration
    from shelfsync.catalog.ledger.same_rows import Quiet
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.catalog.snapshot import Normalised
    from shelfsync.context import Context
    from shelfsync.rows.resembled_sku import Known


in_report = logs.in_report(__name__)


def normalise(context: Context, run_id: int, names: Iterable[str]) -> StepReport:
    """Writes snapshot and quarantine of each vendor; a vendor of whose rows none is whole has failed.

    A full run checks the digests: the same ones give the same products.
    """
    names = list(names)
    rules = same_rows.rules_of(context.settings)
    quiet = same_rows.to_check(context, run_id, names, rules)

    ordered: dict[str, list[Restoration]] = {}
    files: dict[str, KnownFiles] = {}

    def ahead(connection: Connection, found: Collection[str]) -> None:
        files.update(known_files(connection, found))
        ordered.update({name: [] for name in found})
        for one in in_force(connection, found):
            ordered[one.vendor].append(one)

    def read(_connection: Connection, row: VendorRun) -> tuple[list[Restoration], KnownFiles]:
        if row.raw_path is None:
            raise Skip("nothing was extracted")
        if row.snapshot_path is not None:
            raise Done
        return ordered[row.vendor], files[row.vendor]

    def work(row: VendorRun, facts: tuple[list[Restoration], KnownFiles]) -> None:
        restorations, files = facts
        acting = same_rows.rules_digest(rules, files.observed)  # one that comes after it is a reason to work again
        _normalise_vendor(context, row, restorations, files, acting, quiet.get(row.vendor))

    return each_vendor(context, run_id, names, "normalise", read, work, ahead=ahead)


def _normalise_vendor(
    context: Context,
    row: VendorRun,
    restorations: list[Restoration],
    files: KnownFiles,
    rules: str,
    quiet: Quiet | None,
) -> None:
    from shelfsync.catalog.snapshot import make_snapshot
    from shelfsync.rows.digest import digest_of
    from shelfsync.schemas import RAW, completed

    platform = context.settings.platform
    known = known_skus(context, files)
    raw = completed(context.lake.read_table(row.raw_path or ""), RAW)
    result = make_snapshot(raw, context.settings.normalise, key=platform.item_key, known=known)
    snapshot, quarantine = result.snapshot, result.quarantine
    if result.rows_whole == 0:
        with context.engine.begin() as connection:
            _record(connection, row, result)
        first = quarantine["message"][0].as_py() if quarantine.num_rows else "there was no row"
        raise DataError(
            f"every one of {snapshot.num_rows + result.rows_quarantined} rows is faulty, the first because {first} (`shelfsync quarantine` shows them)"
        )
    wanted = restored(context, row.vendor, snapshot, restorations)
    snapshot_path = context.lake.write_table("snapshot", row.vendor, wanted)
    erp_path = context.lake.write_table("snapshot", row.vendor, snapshot) if restorations else None
    quarantine_path = context.lake.write_table("quarantine", row.vendor, quarantine) if quarantine.num_rows else None
    missed = _missed(context, row, result, known)
    if quiet is not None and quiet.rules_digest_before == rules and not restorations:  # one may be ordered meanwhile
        _check(row, quiet, snapshot_path)
    names_path = product_names.kept(context, row.vendor, result.names)
    with context.engine.begin() as connection:
        if missed is not None:
            missed_changes.replace(connection, row.run_id, row.vendor, missed)
        if names_path is not None:
            vendors.name_products(connection, row.vendor, names_path)
        _record(
            connection,
            row,
            result,
            snapshot_path=snapshot_path,
            erp_path=erp_path,
            restorations=[one.restoration_id for one in restorations] or None,
            quarantine_path=quarantine_path,
            raw_digest=row.raw_digest or digest_of([raw]),
            rules_digest=rules,
            missed=None if missed is None else missed.num_rows,
        )


def _check(row: VendorRun, quiet: Quiet, snapshot_path: str) -> None:
    """Reports products that differ although the digests are the same: a delta would have passed the vendor over."""
    if snapshot_path != quiet.snapshot_path_before:
        in_report.error(
            "normalise: vendor %s: by their digests its rows are those of generation %d, and its products differ."
            " The full sync sends them; report this fault of shelfsync, and run `shelfsync sync --full` until it is repaired",
            row.vendor,
            quiet.generation_before,
        )


def _missed(context: Context, row: VendorRun, found: Normalised, known: Known) -> pa.Table | None:
    """What the changes had not reported until this whole reading; None if there is nothing to compare with."""
    if row.reported_path is None:
        return None
    from shelfsync.catalog.missed_changes import missed_skus
    from shelfsync.catalog.snapshot import make_snapshot
    from shelfsync.schemas import RAW, completed

    reported = completed(context.lake.read_table(row.reported_path), RAW)
    key = context.settings.platform.item_key
    return missed_skus(make_snapshot(reported, context.settings.normalise, key=key, known=known), found)


def _record(connection: Connection, row: VendorRun, result: Normalised, **values: Any) -> None:
    """The quarantine to the warehouse, the counts and `values` to the vendor's row of the run."""
    quarantine.replace(connection, row.run_id, row.vendor, result.quarantine)
    counts = {
        "rows_snapshot": result.snapshot.num_rows,
        "rows_quarantined": result.rows_quarantined,
        "values_left_out": result.values_left_out,
    }
    write(connection, row, **counts, **values)
