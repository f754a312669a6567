"""observe: fetches an export's file once, keeps it, reads it, and loads it: what the platform shows of a vendor, exactly once a file."""

from __future__ import annotations

import logging
import sys
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import sqlalchemy as sa

from partner_api.errors import PartnerError
from shelfsync.errors import DataError, TryAgainError
from shelfsync.flow import hear_export
from shelfsync.flow.each_export import each_export
from shelfsync.flow.each_vendor import Skip, StepReport
from shelfsync.flow.hear import known
from shelfsync.flow.isolation import blames_the_file, reason_of
from shelfsync.flow.result_file import download, first_usable
from shelfsync.inbox import events
from shelfsync.ledger import exports, observations, vendor_runs, vendors
from shelfsync.ledger.instant import instant
from shelfsync.warehouse import shelf

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.catalog.export import Export as ExportFile
    from shelfsync.flow.hear import News
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.exports import Export

log = logging.getLogger(__name__)


def observe(parts: Parts, run_key: str, names: Iterable[str]) -> StepReport:
    """Turns every export that has ended into an observation, in ledger, lake and warehouse."""

    def work(one: Export) -> None:
        if one.state in {"observed", "reconciled"}:
            raise Skip("observed before")
        if one.state != "open":
            raise Skip(f"the export is {one.state}" + (f": {one.error}" if one.error else ""))
        news = known(parts, one)
        if not news.ended:
            news = _ask(parts, one)
        if not news.ended:
            raise DataError(
                f"export {one.export_id}: no word that it has ended came"
                + (" before its deadline" if one.overdue else " yet")
                + f" (the platform calls it {news.status}). Is the webhook's address right?"
            )
        _observe(parts, one, news)

    return each_export(parts, run_key, names, "observe", work)


def _ask(parts: Parts, one: Export) -> News:
    try:
        return hear_export.ask(parts, one)
    except TryAgainError as error:
        if not one.overdue:
            raise
        raise DataError(
            f"export {one.export_id}: no word that it has ended came before its deadline: {error}"
        ) from error


def _observe(parts: Parts, one: Export, news: News) -> None:
    fetched = _fetch(parts, one, news)
    if fetched is None:
        _give_up(parts, one, f"the export ended as {news.status} and left no file")
    raw_path, read = fetched
    for problem in read.problems:
        log.warning("observe: vendor %s: %s (%s)", one.vendor, problem, raw_path)
    path = parts.lake.write_table("observed", one.vendor, read.rows)
    extra = parts.lake.write_table("observed-extra", one.vendor, read.extra) if read.extra.num_rows else None
    before = _before(parts, one)
    with parts.engine.begin() as connection:
        vendors.remember(connection, one.vendor)
        current = vendors.lock(connection, one.vendor)
        if exports.read(connection, one.export_id).state != "open":
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
            open_job_id=one.open_job_id,
        )
        seen = observations.read(connection, number)
        shelf.load_observation(connection, seen, read.rows, before=before)
        exports.observed(connection, one.export_id, number)
        if one.platform_job_id is not None:
            events.mark_processed(connection, one.platform_job_id, up_to=sys.maxsize)
    log.info(
        "observe: vendor %s: %d SKUs shown (baseline %d)", one.vendor, read.rows.num_rows, current.baseline_version
    )


def _before(parts: Parts, one: Export) -> shelf.Loaded | None:
    """The picture that the warehouse was loaded with last, and its rows."""
    with parts.engine.connect() as connection:
        last = shelf.last_loaded(connection, one.vendor)
    return None if last is None else shelf.Loaded(last, parts.lake.read_table(last.path))


def _read(parts: Parts, one: Export, raw_path: str) -> ExportFile:
    """The file's rows; a DataError where nothing may be concluded from it."""
    from shelfsync.catalog.export import parse_export

    with parts.lake.open(raw_path) as file:
        read = parse_export(file, _known(parts, one.vendor), file_bytes_max=parts.settings.export.file_bytes_max)
    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, one.vendor)
    if read.rows.num_rows == 0 and base is not None and base.rows:
        raise DataError(
            f"the export shows not one SKU, while the baseline has {base.rows}; nothing is concluded from it ({raw_path})"
        )
    return read


def _known(parts: Parts, vendor: str) -> pa.Table | None:
    """SKU and barcode as the ERP last wrote them."""
    with parts.engine.connect() as connection:
        last = vendor_runs.last_snapshot(connection, vendor)
    return None if last is None else parts.lake.read_table(last.snapshot_path, columns=["sku", "barcode"])


def _give_up(parts: Parts, one: Export, why: str) -> NoReturn:
    with parts.engine.begin() as connection:
        exports.trouble(connection, one.export_id, "observe", why[:1000], over=True)
    raise DataError(why)


def _fetch(parts: Parts, one: Export, news: News) -> tuple[str, ExportFile] | None:
    """The file in the lake and what it shows; None when the export left none.

    Where the platform itself leads to a file that cannot be read, the export is given up: the next export is a new file. Where only an
    event did, a later event or the platform's answer may still lead to a good one.
    """

    def use(url: str) -> tuple[str, ExportFile]:
        path = download(parts, url, "export", one.vendor, lane="export")
        return path, _read(parts, one, path)

    what = f"observe: vendor {one.vendor}, export {one.export_id}"
    try:
        return first_usable(parts, news.links, use, partial(hear_export.ask, parts, one), what=what)
    except Exception as error:
        if isinstance(error, PartnerError) or not blames_the_file(error) or not _has_ended(parts, one):
            raise
        _give_up(parts, one, reason_of(error))


def _has_ended(parts: Parts, one: Export) -> bool:
    with parts.engine.connect() as connection:
        fresh = exports.read(connection, one.export_id)
    return known(parts, fresh).ended
