"""extract: writes the ERP's rows unchanged into one file a vendor, with the proof that they are complete."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from shelfsync import logs
from shelfsync.catalog.ledger import readings, runs, source_columns, vendor_runs, vendors
from shelfsync.catalog.ledger.reading_lock import alone_reading
from shelfsync.catalog.steps import same_rows
from shelfsync.catalog.steps.changes import (
    ReportedChanges,
    broken_stores,
    known_stores,
    land_some,
    quarantined,
    read_changed,
)
from shelfsync.catalog.steps.column_policy import judged
from shelfsync.catalog.steps.store_without_rows import why_it_fails
from shelfsync.catalog.steps.total_rows import of_no_store
from shelfsync.catalog.warehouse import quarantine, record
from shelfsync.erp.extract import none_of
from shelfsync.errors import DataError, some_of
from shelfsync.outages import erp_asked
from shelfsync.platform.credentials_check import check_chain
from shelfsync.rows.quarantine_reason import is_usable
from shelfsync.vendors.partition import Partition
from shelfsync.vendors.shards import shards

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.column_reading import ColumnReadings
    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.catalog.steps.changes import Files, Land
    from shelfsync.context import Context
    from shelfsync.erp.completeness_proof import Proof
    from shelfsync.erp.extract import Extract

log = logging.getLogger(__name__)

in_report = logs.in_report(__name__)


def extract(
    context: Context, run_id: int, columns: ColumnReadings | None = None, *, every: bool = False
) -> list[dict[str, Any]]:
    """Reads the ERP once and returns the shards: `{"run", "shard", "vendors", "label"}` each. `columns` see all that is read for a plan.

    A vendor that a delta read again, the same, is in no shard, unless `every` vendor has to take the steps.

    A delta of all vendors reads no more than what changed, if the ERP can be asked for that; everything else reads the whole, and what
    changed since if the whole is a dump. The ledger is written only after the reading has ended, so an aborted one leaves no trace (I6).
    """
    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
    names = _read(context, run, columns)
    left = names if every else same_rows.pass_over(context, run, names)
    return shards(left, run_id, context.settings.sync.vendors_per_shard, context.settings.sync.shards_max)


def _read(context: Context, run: Run, columns: ColumnReadings | None) -> list[str]:
    """Reads the ERP and returns the vendors that were read, by name."""
    erp = context.open_erp()
    followed = erp.followed()
    partial = bool(run.dry_run or run.vendors or run.skus)
    if run.dry_run and (followed is None or not followed.dumped):
        return _whole(context, run, erp.read, _land_nothing, columns=columns)
    if followed is None:
        return _whole(context, run, erp.read, _begin_anew)
    with alone_reading(context.engine, context.clock, wait_s=context.settings.erp.timeout_s):
        with context.engine.connect() as connection:
            before = readings.at(connection, followed.feed)
        if before is not None and not run.full and not partial:
            return read_changed(context, run, followed, before)
        if partial and not followed.dumped:
            return _whole(context, run, erp.read, land_some)
        with ReportedChanges(context, run, followed.feed, before, partial=partial) as reported:
            return _whole(
                context,
                run,
                lambda of: followed.read_with(reported.changes, of if partial else ()),
                _land_nothing if run.dry_run else land_some if partial else reported.land,
                reported,
                columns,
            )


def _land_nothing(_connection: Connection, _files: Files, *, complete: Collection[str]) -> None:
    """A plan reads only."""


def _begin_anew(connection: Connection, _files: Files, *, complete: Collection[str]) -> None:  # noqa: ARG001
    """If the changes are read again one day, they need a reading of the whole first."""
    readings.forget(connection)


def _whole(
    context: Context,
    run: Run,
    read: Callable[[tuple[str, ...]], Extract],
    land: Land,
    reported: ReportedChanges | None = None,
    columns: ColumnReadings | None = None,
) -> list[str]:
    """Reads all rows, lands them by `land`, and returns the vendors, by name. `reported`: the changes at the same instant, so that what they missed is found."""
    wanted = run.vendors or context.settings.sync.vendors
    with Partition(context.lake, wanted, stores=known_stores(context), written=_written(context, run)) as partition:
        with erp_asked(context.engine), read(wanted) as extracted:
            extracted.look = None if columns is None else columns.look
            for chunk in extracted:
                partition.add(chunk)
            proof = extracted.proof()
            left_out, seen = extracted.left_out, extracted.columns()
            unread = {name: why for name, why in extracted.failed.items() if not wanted or name in wanted}
        if reported is not None:
            unread |= broken_stores(context, reported.changes, wanted)
        for name, why in unread.items():
            in_report.error("extract: vendor %s: %s", name, why)
            partition.leave_out(name)
        files = partition.finish()
        totals, total_rows = of_no_store(context, files, partial(known_stores, context))
        files = {name: file for name, file in files.items() if name not in totals}
        nameless = quarantined(context, partition, total_rows)
        nameless_rows = partition.nameless_rows + total_rows.num_rows
        failed = {name: f"its rows could not be written: {why}" for name, (why, _) in partition.failed.items()}
        if nameless_rows and not partition.named_rows:
            raise DataError(
                f"extract: not one of {nameless_rows:,} rows names a usable vendor, which looks like a wrong column and not like wrong rows."
                " Check SHELFSYNC_ERP__COLUMNS and the SELECT's vendor column; nothing was sent."
            )
    kept = judged(context, seen)
    if proof.rows == 0:
        raise DataError(
            "extract: the ERP returned not one row, so nothing was concluded and nothing will be sent."
            " Check the SELECT or the file (SHELFSYNC_ERP__SQL, SHELFSYNC_ERP__FILES), then run again."
        )
    if wanted and not files and not failed and not unread:
        raise none_of(wanted, f"{proof.rows} rows")
    check_chain(context, sorted(files, key=lambda name: (-files[name][1], name)))
    if reported is not None:
        files, unlaid = reported.compare(files)
        failed |= {name: f"its rows could not be written: {why}" for name, why in unlaid.items()}
    failed |= {name: why for name, why in unread.items() if is_usable(name)}
    paths = {} if reported is None else reported.paths
    _write(context, run, proof, files, failed, nameless, land, paths, partition.digests, kept)
    if of_vendors := nameless_rows - nameless["reason"].to_pylist().count("no_row"):
        log.warning(
            "extract: %d rows name no usable vendor and were quarantined; `shelfsync quarantine` shows them", of_vendors
        )
    if left_out:
        log.info(
            "extract: %d rows of %d stores are left out, because SHELFSYNC_ERP__VENDOR_IDS does not name them: %s",
            left_out.total(),
            len(left_out),
            some_of(sorted(left_out)),
        )
    log.info("extract: %d rows of %d vendors, %s", proof.rows, len(files), proof.how)
    return sorted(files)


def _written(context: Context, run: Run) -> dict[str, str]:
    """Files of the readings before. A full run writes all anew: it finds out whether the lake has kept them as they were."""
    if run.full:
        return {}
    with context.engine.connect() as connection:
        return vendor_runs.files_read_last(connection)


def _write(
    context: Context,
    run: Run,
    proof: Proof,
    files: Files,
    failed: dict[str, str],
    nameless: pa.Table,
    land: Land,
    reported: dict[str, str],
    digests: dict[str, str],
    columns: source_columns.Columns,
) -> None:
    asked = set(run.vendors or context.settings.sync.vendors)
    came = set(files) | set(failed)
    with context.engine.begin() as connection:
        complete = files.keys() - proof.doubtful if proof.complete else set()
        doubtful = files.keys() - complete if proof.complete else set()
        if doubtful:
            _begin(connection, run, proof.of_doubtful(), _named(files, doubtful), reported, digests)
        number = _begin(connection, run, proof, _named(files, files.keys() - doubtful), reported, digests)
        land(connection, files, complete=complete)
        known = vendors.known_vendors(connection)
        new = {name for name in came if not known.get(name)}  # the platform acknowledged nothing of them yet
        missing = (asked or known.keys()) - came
        why = failed | {name: why_it_fails(context, name, known.get(name, 0), new) for name in missing}
        vendor_runs.begin_all(connection, run.run_id, number, {name: vendor_runs.unread(why[name]) for name in why})
        vendors.take_in(connection, files)
        record.VENDOR.copy(connection, sorted(came))
        record.RUN.copy(connection, [run.run_id])
        quarantine.replace(connection, run.run_id, None, nameless)
        if columns:
            source_columns.note(connection, run.run_id, columns, dry_run=run.dry_run)


def _named(files: Files, names: Collection[str]) -> Files:
    return {name: file for name, file in files.items() if name in names}


def _begin(
    connection: Connection, run: Run, proof: Proof, files: Files, reported: dict[str, str], digests: dict[str, str]
) -> int:
    """Starts the vendors of these files, of which `proof` is what is proven; the number of the reading."""
    number = runs.record_extract(
        connection,
        run.run_id,
        rows=proof.rows,
        rows_expected=proof.expected,
        proof=proof.how,
        complete=proof.complete,
    )
    read = {
        name: {
            "raw_path": path,
            "rows_raw": rows,
            "reported_path": reported.get(name),
            "raw_digest": digests.get(path),
        }
        for name, (path, rows) in files.items()
    }
    vendor_runs.begin_all(connection, run.run_id, number, read)
    return number
