"""confirm: reads the log of each job and writes one outcome for every SKU sent. A 202 or a COMPLETED job is no outcome (I2)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NoReturn

import pyarrow.compute as pc

from partner_api.errors import PartnerError, ThrottledError
from shelfsync.catalog.ledger import batches
from shelfsync.catalog.steps import rejected_skus
from shelfsync.catalog.steps.each_vendor import Done, Skip, StepReport
from shelfsync.catalog.steps.outcomes import all_alike, ended_without_log, leave_unconfirmed, write_outcomes
from shelfsync.catalog.steps.vendor_lease import each_open_job
from shelfsync.errors import DataError, StaleRunError, TryAgainError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.job import blames_the_file, database_is_away, is_final, reason_of
from shelfsync.platform.jobs.poll import Report, known, poll, received
from shelfsync.platform.jobs.result import download, first_usable
from shelfsync.platform.jobs.table import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from partner_api.catalog import CatalogEntry
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context
    from shelfsync.store.leases import Lease


log = logging.getLogger(__name__)


def confirm(context: Context, run_id: int, names: Iterable[str], *, comes_back: bool = True) -> StepReport:
    """Writes the outcomes of each vendor's open jobs of this run, as far as the platform has ended them."""
    otherwise = "no job of this run is open"
    return each_open_job(context, run_id, names, "confirm", _confirm, otherwise=otherwise, comes_back=comes_back)


def _confirm(context: Context, job: CatalogJob, lease: Lease) -> None:
    if job.state == State.CONFIRMED:
        raise Done
    news = Report()
    try:
        news = known(context, job, received(context, lease.session, job))
        if not news.ended and (job.poll_due or job.overdue):
            news = poll(context, job)
        if news.ended:
            write_ended(context, job, news, lease)
            return
    except Exception as error:
        # an expired link, an unreadable log, or a status call that fails or must not be sent: without an end, the job would block the vendor
        only_our_own_pause = news.ended and isinstance(error, TryAgainError)
        if only_our_own_pause or not job.overdue or database_is_away(error) or isinstance(error, StaleRunError):
            raise
        end_overdue(context, job, lease, error)
        return
    if job.overdue:
        end_overdue(context, job, lease)
        return
    raise Skip(f"job {job.job_id} is still {job.platform_status or job.state}; catalog_recover goes on with it")


def write_ended(context: Context, job: CatalogJob, news: Report, lease: Lease) -> None:
    """Writes the outcomes of a job that the platform has ended, in one transaction with the warehouse."""
    batch = batches.read(lease.session, job.batch_id)
    items = context.lake.read_table(batch.items_path)
    outcomes = _outcomes(context, job, news, items, lease)
    write_outcomes(context, lease, job, batch, items, outcomes)


def end_overdue(context: Context, job: CatalogJob, lease: Lease, trouble: Exception | None = None) -> None:
    """Ends a job after its deadline: by the platform's listing if that is cheap, otherwise as unconfirmed.

    If the platform or shelfsync pauses all requests, the listing is not read: it would delay one vendor after the other.
    """
    waiting = isinstance(trouble, ThrottledError | TryAgainError)
    if waiting or not _shown_in_listing(context, job, lease):
        give_up(context, job, lease, trouble)


def _shown_in_listing(context: Context, job: CatalogJob, lease: Lease) -> bool:
    """Whether the listing ended the job. The job ends even if the listing cannot be read."""
    try:
        return read_back(context, job, lease)
    except Exception as error:
        if database_is_away(error) or isinstance(error, StaleRunError):
            raise
        log.error("confirm: vendor %s, job %d: the listing: %s", job.vendor, job.job_id, reason_of(error))  # noqa: TRY400
        return False


def give_up(context: Context, job: CatalogJob, lease: Lease, trouble: Exception | None = None) -> NoReturn:
    """Ends a job after its deadline as unconfirmed: nothing is acknowledged, and the next delta sends the ERP's values (I7)."""
    why = "no confirmation came before the deadline" + (f" ({reason_of(trouble)[:800]})" if trouble else "")
    skus = leave_unconfirmed(context, lease, job.job_id, why)
    raise DataError(
        f"job {job.job_id}: {why}; {skus} SKUs are unconfirmed and will be sent again. Are the webhook's address and secret right?"
    )


def _outcomes(context: Context, job: CatalogJob, news: Report, items: pa.Table, lease: Lease) -> pa.Table:
    from shelfsync.catalog.outcome import match, parse_feedback, unmatched

    key = context.settings.platform.item_key
    lines, news = _log_lines(context, job, news, lease)
    if lines is None and news.feedback is None:
        return all_alike(items, "unaccounted", ended_without_log(news.status))
    if lines is None:
        lines = parse_feedback(news.feedback or [])
    unmatched_lines = unmatched(items, lines, key).num_rows
    if unmatched_lines:
        log.warning(
            "confirm: vendor %s, job %d: %d lines of the log match no SKU sent",
            job.vendor,
            job.job_id,
            unmatched_lines,
        )
    return match(items, lines, key)


def _log_lines(context: Context, job: CatalogJob, news: Report, lease: Lease) -> tuple[pa.Table | None, Report]:
    """The lines of the job's log, downloaded once and stored, or None if the job has none; and the platform's last report of the job."""
    what = f"confirm: vendor {job.vendor}, job {job.job_id}"
    if job.result_path is not None:
        try:
            return _read_log(context, job, job.result_path, lease), news
        except Exception as error:
            if not blames_the_file(error):
                raise
            log.error("%s: the stored log: %s", what, reason_of(error))  # noqa: TRY400  expected, in a line

    def use(url: str) -> pa.Table:
        path = download(context, url, "log", job.vendor, priority=job.priority)
        _keep(context, job, path, lease)
        return _read_log(context, job, path, lease)

    def ask() -> Report:
        nonlocal news
        news = poll(context, job)
        return news

    def known_without(trouble: Exception | None) -> bool:
        # status and event may list the rejected SKUs alone: only the log, if it can still come, confirms the others
        if trouble is None:
            return job.feedback is not None
        return news.ended and news.feedback is not None and (job.overdue or is_final(trouble))

    lines = first_usable(context, news.links, use, ask, what=what, known_without=known_without)
    return lines, news


def _read_log(context: Context, job: CatalogJob, path: str, lease: Lease) -> pa.Table:
    """The log's lines. A truncated log counts up to its end. The path of an unreadable log is removed."""
    from shelfsync.catalog.job_log import TruncatedLogError
    from shelfsync.catalog.outcome import parse_log

    with context.lake.open(path) as file:
        try:
            return parse_log(file, whole=True)
        except TruncatedLogError as error:
            log.error("confirm: vendor %s, job %d: %s", job.vendor, job.job_id, error)  # noqa: TRY400  one line is enough
            return error.log
        except Exception:
            _keep(context, job, None, lease)
            raise


def _keep(context: Context, job: CatalogJob, path: str | None, lease: Lease) -> None:
    with context.engine.begin() as connection:
        lease.hold(connection)
        job_row.fetched(connection, job.job_id, path)


READBACK_PRIORITY = "catalog"


def read_back(context: Context, job: CatalogJob, lease: Lease) -> bool:
    """Confirms the job by the listing, which is newer than the sending; False if the listing proves nothing.

    A SKU that it does not prove is unaccounted, and the next delta sends it again (I7).
    """
    from shelfsync.catalog.outcome import Shown, listing_lines, match, provable

    with context.engine.connect() as connection:
        batch = batches.read(connection, job.batch_id)
    if job.attempts == 0 or not context.settings.sync.readback_requests_max:
        return False
    items, key = context.lake.read_table(batch.items_path), context.settings.platform.item_key
    asked = provable(items)
    if not asked.num_rows:
        return False
    unknown = rejected_skus.unknown_now(context, job.vendor)
    try:
        entries = _entries(context, job.vendor, asked)
    except (PartnerError, TryAgainError) as error:  # rejected, or not allowed now: the job ends anyway
        log.warning("confirm: vendor %s, job %d: the listing proves nothing: %s", job.vendor, job.job_id, error)
        return False
    rejected_skus.release_listed(context, job.vendor, unknown, [entry.sku for entry in entries])
    shown = [Shown(entry.sku, entry.barcodes, entry.price, entry.active) for entry in entries]
    outcomes = match(items, listing_lines(items, shown, key), key)
    proven = pc.sum(pc.equal(outcomes["state"], "accepted")).as_py() or 0
    if not proven:
        return False
    write_outcomes(context, lease, job, batch, items, outcomes)
    log.warning(
        "confirm: vendor %s, job %d: no log came; the listing shows %d of %d SKUs as they were sent",
        job.vendor,
        job.job_id,
        proven,
        items.num_rows,
    )
    return True


def _entries(context: Context, vendor: str, asked: pa.Table) -> list[CatalogEntry]:
    """Products of the listing: a search for each SKU if they are few, else page by page, within the allowed number of requests."""
    most = context.settings.sync.readback_requests_max
    platform = context.open_platform()
    if context.settings.platform.item_key == "sku" and asked.num_rows <= most:
        found: list[CatalogEntry] = []
        for sku in asked["sku"].to_pylist():
            page = platform.list_catalog(vendor, query_term=sku, priority=READBACK_PRIORITY)
            found += [entry for entry in page.products if entry.sku == sku]
        return found
    found, number, pages = [], 1, 1
    while number <= pages:
        page = platform.list_catalog(vendor, number, priority=READBACK_PRIORITY)
        pages = page.total_pages or number
        if pages > most or (page.page_number or number) != number:
            return []  # too many requests, or the same page again and again
        found += page.products
        number += 1
    return found
