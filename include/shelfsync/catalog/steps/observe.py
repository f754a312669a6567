"""observe: downloads an export's file, stores it, reads it, and loads it into the warehouse exactly once."""

from __future__ import annotations

import logging
import sys
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import sqlalchemy as sa

from partner_api.errors import PartnerError
from shelfsync.catalog.export import parse_export
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import observations, vendor_runs, vendors
from shelfsync.catalog.steps.export import each_export
from shelfsync.catalog.warehouse import assortment_history
from shelfsync.errors import DataError, TryAgainError
from shelfsync.inbox import events
from shelfsync.platform.jobs.download_ahead import File, fetched_ahead
from shelfsync.platform.jobs.job import blames_the_file, reason_of
from shelfsync.platform.jobs.poll import known, poll
from shelfsync.platform.jobs.result import first_usable
from shelfsync.platform.jobs.table import State
from shelfsync.store.metadata import instant
from shelfsync.vendors.step_report import Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.catalog.export import Export as ExportFile
    from shelfsync.catalog.ledger.exports import ExportJob
    from shelfsync.context import Context
    from shelfsync.platform.jobs.download_ahead import Ahead
    from shelfsync.platform.jobs.poll import Report

log = logging.getLogger(__name__)


def observe(context: Context, run_key: str, names: Iterable[str]) -> StepReport:
    """Turns every export that has ended into an observation, in ledger, lake and warehouse."""

    def work(one: ExportJob) -> None:
        if one.state in {State.CONFIRMED, State.ACKNOWLEDGED}:
            raise Skip("observed before")
        if one.state != State.OPEN:
            raise Skip(f"the export is {one.state}" + (f": {one.error}" if one.error else ""))
        news = known(context, one)
        if not news.ended:
            news = _ask(context, one)
        if not news.ended:
            raise DataError(
                f"export {one.job_id}: the platform did not report its end"
                + (" before its deadline" if one.overdue else " yet")
                + f" (its status is {news.status}). Are the webhook's address and secret right?"
            )
        _observe(context, one, news, ahead)

    wanted = list(names)
    with context.engine.connect() as connection:
        jobs = export_jobs.of_run(connection, run_key, wanted)
    with fetched_ahead(context, jobs, _vendor_of, lambda _one: _file(context)) as ahead:
        in_order = partial(ahead.in_order, vendor_of=_vendor_of)
        return each_export(context, run_key, wanted, "observe", work, in_order=in_order)


def _vendor_of(one: ExportJob) -> str:
    return one.vendor


def _file(context: Context) -> File:
    return File("export", "export", context.settings.export.file_max_bytes)


def _ask(context: Context, one: ExportJob) -> Report:
    try:
        return poll(context, one)
    except TryAgainError as error:
        if not one.overdue:
            raise
        raise DataError(
            f"export {one.job_id}: the platform did not report its end before its deadline: {error}"
        ) from error


def _observe(context: Context, one: ExportJob, news: Report, ahead: Ahead) -> None:
    fetched = _fetch(context, one, news, ahead)
    if fetched is None:
        _give_up(context, one, f"the export ended as {news.status} and left no file")
    raw_path, read = fetched
    for problem in read.problems:
        log.warning("observe: vendor %s: %s (%s)", one.vendor, problem, raw_path)
    path = context.lake.write_table("observed", one.vendor, read.rows)
    extra = context.lake.write_table("observed-extra", one.vendor, read.extra) if read.extra.num_rows else None
    before = _before(context, one)
    with context.engine.begin() as connection:
        vendors.remember(connection, one.vendor)
        current = vendors.lock(connection, one.vendor)
        if export_jobs.read(connection, one.job_id).state != State.OPEN:
            return  # another process was faster
        number = observations.record(
            connection,
            one.vendor,
            how="export",
            path=path,
            rows=read.rows.num_rows,
            observed_at=one.requested_at or connection.execute(sa.select(instant())).scalar_one(),
            ended_at=connection.execute(sa.select(instant())).scalar_one(),
            raw_path=raw_path,
            extra_path=extra,
            last_job_id=one.last_job_id,
            open_job_ids=one.open_job_ids,
        )
        seen = observations.read(connection, number)
        assortment_history.load_observation(connection, seen, read.rows, before=before)
        export_jobs.observed(connection, one, number)
        if one.platform_job_id is not None:
            events.mark_processed(connection, one.platform_job_id, up_to=sys.maxsize)
    log.info(
        "observe: vendor %s: %d SKUs shown (baseline %d)", one.vendor, read.rows.num_rows, current.baseline_version
    )


def _before(context: Context, one: ExportJob) -> assortment_history.Loaded | None:
    """The observation that was loaded last into the warehouse, and its rows."""
    with context.engine.connect() as connection:
        last = assortment_history.last_loaded(connection, one.vendor)
        if last is None:
            return None
        rows = context.lake.read_or_none(last.path)
        if rows is None:
            rows = assortment_history.shown_now(connection, one.vendor)
    return assortment_history.Loaded(last, rows)


def _read(context: Context, one: ExportJob, raw_path: str) -> ExportFile:
    """The file's rows; a DataError if the file proves nothing."""
    with context.lake.open(raw_path) as file:
        read = parse_export(file, _known(context, one.vendor), file_max_bytes=context.settings.export.file_max_bytes)
    with context.engine.connect() as connection:
        base = vendors.current_baseline(connection, one.vendor)
    if read.rows.num_rows == 0 and base is not None and base.rows:
        raise DataError(
            f"the export shows no SKU, while the baseline has {base.rows}; shelfsync ignores it ({raw_path})"
        )
    return read


def _known(context: Context, vendor: str) -> pa.Table | None:
    """SKU and barcode as the ERP last wrote them."""
    with context.engine.connect() as connection:
        last = vendor_runs.last_snapshot(connection, vendor)
    return context.lake.read_or_none(None if last is None else last.snapshot_path, ["sku", "barcode"])


def _give_up(context: Context, one: ExportJob, why: str) -> NoReturn:
    with context.engine.begin() as connection:
        export_jobs.fail(connection, one, "observe", why[:1000], over=True)
    raise DataError(why)


def _fetch(context: Context, one: ExportJob, news: Report, ahead: Ahead) -> tuple[str, ExportFile] | None:
    """The file in the lake and its rows; None if the export has no file.

    If the platform's status links to an unreadable file, the export is given up: the next export is a new file. If only an
    event linked to it, a later event or status may still link to a good one.
    """

    def use(url: str) -> tuple[str, ExportFile]:
        path = ahead.path(context, one, one.vendor, url, _file(context))
        return path, _read(context, one, path)

    what = f"observe: vendor {one.vendor}, export {one.job_id}"
    try:
        return first_usable(context, news.links, use, partial(poll, context, one), what=what)
    except Exception as error:
        if isinstance(error, PartnerError) or not blames_the_file(error) or not _has_ended(context, one):
            raise
        _give_up(context, one, reason_of(error))


def _has_ended(context: Context, one: ExportJob) -> bool:
    with context.engine.connect() as connection:
        fresh = export_jobs.read(connection, one.job_id)
    return known(context, fresh).ended
