"""Reading only what changed: the changed rows are laid over the vendor's last ones, and the whole reading finds what they missed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

import pyarrow as pa

from shelfsync import logs
from shelfsync.catalog.changed_rows import lay_over, of_last_file
from shelfsync.catalog.ledger import change_files, readings, runs, vendor_runs, vendors
from shelfsync.catalog.ledger.reading_lock import alone_reading
from shelfsync.catalog.ledger.readings import Reading
from shelfsync.catalog.warehouse import quarantine, record
from shelfsync.erp.changes_query import Changes
from shelfsync.erp.control_file import CONTROL_FILE
from shelfsync.erp.vendor_ids import VendorIds
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.outages import erp_asked
from shelfsync.rows.quarantine_reason import is_usable
from shelfsync.schemas import CHANGED, QUARANTINE, RAW, completed
from shelfsync.vendors.partition import Partition

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Sequence
    from types import TracebackType
    from typing import TypeAlias

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.readings import At
    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.context import Context
    from shelfsync.erp.change_file_state import ChangeFile
    from shelfsync.erp.extract import FollowedErp
    from shelfsync.store.lake import Lake

log = logging.getLogger(__name__)
in_report = logs.in_report(__name__)

Files: TypeAlias = "dict[str, tuple[str, int]]"
"""Vendor -> the path and the number of its rows."""

FILES = "files"
"""The feed of changes that come as files."""
_UNREAD = "the changes have rows of it, and the last reading of the whole had none that they belong over; `shelfsync sync --full` reads it anew"


class Land(Protocol):
    """Lands the rows of a reading, vendor -> (path, rows), in the transaction at hand."""

    def __call__(self, connection: Connection, files: Files, /, *, complete: Collection[str]) -> None:
        """Writes them. `complete`: the vendors of which all rows are there."""


def known_stores(context: Context) -> dict[str, str]:
    """The ids of stores that an odd id may be meant as -> their vendors: those with something acknowledged, and those of the settings."""
    with context.engine.connect() as connection:
        known = {name: name for name in vendors.known_vendors(connection)}
    return known | VendorIds.of(context.settings.erp).vendors()


def quarantined(context: Context, partition: Partition, totals: pa.Table | None = None) -> pa.Table:
    """The rows that name no usable vendor, and these `totals` (RAW), as rows of the quarantine."""
    rows = partition.nameless.select(RAW.names)
    if totals is not None:
        rows = pa.concat_tables([rows, totals])
    if not rows.num_rows:
        return QUARANTINE.empty_table()
    from shelfsync.catalog.snapshot import nameless

    return nameless(rows, context.settings.normalise)


def _proof(before: At, *, complete: bool, of_files: bool) -> str:
    """What is laid over what; without a proof of the whole also the setting that brings one."""
    since = f" since {before.cursor}" if before.cursor else ""
    proof = f"the changes{since}, laid over the last reading of the whole"
    return proof if complete else f"{proof}, which has no proof{f' (see {CONTROL_FILE})' if of_files else ''}"


def read_changed(context: Context, run: Run, erp: FollowedErp, before: At) -> list[str]:
    """Reads what changed since the position, lands it with the new position, and returns the vendors of the run, by name.

    These are the vendors with a row that differs from their last one, and the vendors that are due for another reason.
    """
    settings = context.settings
    stores = known_stores(context)
    with Partition(context.lake, settings.sync.vendors, kind="changes", schema=CHANGED, stores=stores) as partition:
        known_files = _known_files(context, before.feed)
        changes = Changes(before.cursor, partition.add, files=dict(known_files))
        with erp_asked(context.engine):
            erp.read_changes(changes)
        unread = broken_stores(context, changes, settings.sync.vendors)
        for name, why in unread.items():
            in_report.error("extract: vendor %s: %s", name, why)
            partition.leave_out(name)
        files, failed = partition.finish(), partition.failed
        nameless = quarantined(context, partition)
    with context.engine.connect() as connection:
        known = readings.every(connection)
        due = readings.due(connection, every_s=settings.sync.delta_interval_s)
    by_file = before.feed == FILES
    laid, broken = _laid_over(context, known, {name: path for name, (path, _) in files.items()}, by_file=by_file)
    broken |= {name: f"its rows could not be written: {error}" for name, (error, _) in failed.items() if name in known}
    changed = {name: one.reading for name, one in laid.items() if one.differs}
    due = {name for name in due if not settings.sync.vendors or name in settings.sync.vendors}
    here = {name: known[name] for name in due if name not in broken.keys() | unread.keys()} | changed
    assert changes.position is not None
    with context.engine.begin() as connection:
        strange = set(files) - set(known)
        unlaid = strange & vendors.known_vendors(connection).keys()
        failures = broken | unread | dict.fromkeys(unlaid, _UNREAD)
        numbers = {
            complete: runs.record_extract(
                connection,
                run.run_id,
                rows=changes.rows,
                rows_expected=None,
                proof=_proof(before, complete=complete, of_files=settings.erp.files is not None),
                complete=complete,
                since=before.cursor,
            )
            for complete in sorted({True, *(one.complete for one in here.values())})
        }
        read = {
            name: {
                "raw_path": one.raw_path,
                "rows_raw": one.rows,
                "changed_at": laid[name].changed_at if name in laid else None,
            }
            for name, one in here.items()
            if name not in failures
        }
        for complete, number in numbers.items():
            theirs = {name: row for name, row in read.items() if here[name].complete == complete}
            vendor_runs.begin_all(connection, run.run_id, number, theirs)
        unread_rows = {name: vendor_runs.unread(why) for name, why in failures.items()}
        vendor_runs.begin_all(connection, run.run_id, numbers[True], unread_rows)
        for name, one in laid.items():
            readings.put(connection, name, one.reading)
        if settings.sync.vendors:  # the position moves past the changes of all others
            readings.keep(connection, settings.sync.vendors)
        if not broken:  # the rows of a vendor that has failed have to come again
            readings.move(connection, before.feed, before, cursor=changes.position.cursor, mark=changes.position.mark)
            change_files.write(connection, run.run_id, known_files, changes.files)
        record.RUN.copy(connection, [run.run_id])
        quarantine.replace(connection, run.run_id, None, nameless)
    if new := sorted(strange - unlaid):
        log.warning(
            "extract: the changes have rows of %d vendors that no reading of the whole had yet, the first is %s; the next full sync takes them in",
            len(new),
            new[0],
        )
    log.info(
        "extract: %d changed rows since %s; %d vendors differ, %d are due",
        changes.rows,
        before.cursor,
        len(changed),
        len(due),
    )
    return sorted(here)


@dataclass(frozen=True)
class Laid:
    """A vendor's rows with the changes over them; whether they differ from those before, and when the ERP made the first change of it."""

    reading: Reading
    differs: bool = False
    changed_at: dt.datetime | None = None


def broken_stores(context: Context, changes: Changes, wanted: Sequence[str]) -> dict[str, str]:
    """Vendor -> why its own files of changes could not be read; of the `wanted` vendors alone, or of all."""
    ids = VendorIds.of(context.settings.erp).platform_ids(pa.array(changes.failed, pa.string())).to_pylist()
    found = dict(zip(ids, changes.failed.values(), strict=True))
    return {name: why for name, why in found.items() if is_usable(name) and (not wanted or name in wanted)}


def _known_files(context: Context, feed: str) -> dict[str, ChangeFile]:
    if feed != FILES:
        return {}
    with context.engine.connect() as connection:
        return change_files.known(connection)


def _laid_over(
    context: Context, known: dict[str, Reading], changed: dict[str, str], *, by_file: bool
) -> tuple[dict[str, Laid], dict[str, str]]:
    """The rows of each vendor with changed ones, and why a vendor's could not be made. One stops no other (I10)."""
    made: dict[str, Laid] = {}
    broken: dict[str, str] = {}
    for name, path in changed.items():
        if name not in known:
            continue
        before = known[name]
        try:
            made[name] = _laid(context.lake, name, before, path, by_file=by_file)
        except TryAgainError:  # the lake is unavailable for all vendors
            raise
        except Exception as error:  # whatever it is, the other vendors go on
            log.exception("extract: vendor %s", name)
            broken[name] = (
                f"its changes could not be laid over its last reading ({type(error).__name__}); the next full sync reads it anew"
            )
    return made, broken


def _laid(lake: Lake, vendor: str, before: Reading, changed_path: str, *, by_file: bool) -> Laid:
    """One vendor's rows `before` with the changed ones over them; a file is written only if they differ.

    `by_file`: of a SKU in several files the rows of the last one count.
    """
    earlier = None if before.reported_path is None else lake.read_table(before.reported_path)
    reported_before = None if earlier is None else completed(earlier, CHANGED)
    reported = lake.read_table(changed_path)
    laid = lay_over(
        completed(lake.read_table(before.raw_path), RAW),
        of_last_file(reported) if by_file else reported,
        reported_before,
    )
    if laid is None:
        return Laid(replace(before, reported_path=changed_path))
    path = lake.write_table("raw", vendor, laid.rows)
    return Laid(Reading(path, laid.rows.num_rows, before.complete, changed_path), True, laid.changed_at)


class ReportedChanges:
    """The changes that the ERP reports when the whole is read, and where they go on from there.

    `partial`: the reading is of a plan or of some vendors, so it moves no position and compares nothing.
    `paths`: vendor -> the rows as the changes had reported them, for each vendor that a reading had before.
    """

    def __init__(self, context: Context, run: Run, feed: str, before: At | None, *, partial: bool = False) -> None:
        self._context = context
        self._run = run
        self._feed = feed
        self._before = before
        self._partial = partial
        self._known_files = _known_files(context, feed)

        self._partition = Partition(
            context.lake, context.settings.sync.vendors, kind="changes", schema=CHANGED, stores=known_stores(context)
        )
        cursor = None if before is None else before.cursor
        self.changes = Changes(cursor, self._partition.add, restart=True, files=dict(self._known_files))
        self.paths: dict[str, str] = {}
        self._changed: dict[str, str] = {}
        self._missing: dict[str, Reading] = {}

    def __enter__(self) -> Self:
        self._partition.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._partition.__exit__(kind, error, trace)

    def compare(self, files: dict[str, tuple[str, int]]) -> tuple[dict[str, tuple[str, int]], dict[str, str]]:
        """Finds the rows as the changes had reported them; returns the whole reading's files, vendor -> (path, rows), and what failed, with why.

        Without a snapshot, and after a dump, the changes are newer than the whole, so they are laid over it as well.
        """
        for name in broken_stores(self._context, self.changes, ()):
            self._partition.leave_out(name)
        changed = {name: path for name, (path, _) in self._partition.finish().items()}
        with self._context.engine.connect() as connection:
            known = readings.every(connection)
        by_file = self._feed == FILES
        compared = {} if self._partial else known
        reported, broken = _laid_over(self._context, compared, changed, by_file=by_file)
        before = compared | {name: one.reading for name, one in reported.items()}
        self._changed = changed
        self.paths = {name: before[name].raw_path for name in files if name in before and name not in broken}
        takes_part = self._context.settings.sync.vendors or before
        self._missing = {name: before[name] for name in set(before) & set(takes_part) - set(files) - set(broken)}
        if self.changes.same_instant:
            return files, {}
        wholes = {
            name: Reading(
                *files[name],
                complete=True,
                reported_path=known[name].reported_path if name in known and not by_file else None,
            )
            for name in set(files) & set(changed)
        }
        newer, failed = _laid_over(self._context, wholes, changed, by_file=by_file)
        laid = {name: (one.reading.raw_path, one.reading.rows) for name, one in newer.items()}
        return {name: one for name, one in (files | laid).items() if name not in failed}, failed

    def land(self, connection: Connection, files: Files, *, complete: Collection[str]) -> None:
        """Makes these rows the ones that changes are laid over, and moves the position, in the transaction at hand.

        A vendor without a row here keeps those that it had, with its changes over them: so it is followed when it comes back.
        """
        for name, (path, rows) in files.items():
            readings.put(connection, name, Reading(path, rows, name in complete, self._changed.get(name)))
        for name, one in self._missing.items():
            readings.put(connection, name, one)
        readings.keep(connection, files.keys() | self._missing.keys())
        readings.forget(connection, but=self._feed)
        found = self.changes.position
        assert found is not None
        if self._before is not None and found.cursor != self._before.cursor:
            log.info(
                "extract: the changes go on from %s; the position before was %s", found.cursor, self._before.cursor
            )
        readings.move(connection, self._feed, self._before, cursor=found.cursor, mark=found.mark)
        if self._feed == FILES:
            change_files.write(connection, self._run.run_id, self._known_files, self.changes.files)
            change_files.close(connection, self.changes.present, self.changes.covered)


def land_some(connection: Connection, files: Files, *, complete: Collection[str]) -> None:
    """Lands the rows of some vendors, vendor -> (path, rows). The changes before them come again: the position stays."""
    for name, (path, rows) in files.items():
        readings.put_whole(connection, name, path, rows, complete=name in complete)


def replay(context: Context, path: str) -> list[str]:
    """Lets the next delta take a file of changes again, and those behind it; their paths. Raises DataError if that is not possible."""
    erp = context.open_erp().followed()
    if erp is None or erp.feed != FILES:
        raise ConfigurationError(
            "SHELFSYNC_ERP__CHANGES_FILES", "it is not set", "Set it (docs/how-to/reading-changes.md#changes-as-files)."
        )
    with alone_reading(context.engine, context.clock, wait_s=context.settings.erp.timeout_s):
        changes = Changes(None, lambda _: None)
        erp.read_changes(changes)
        with context.engine.begin() as connection:
            return change_files.again(connection, path, changes.present)
