"""confirm: reads the log of each job and writes one outcome for every SKU sent. A 202 or a COMPLETED job is no outcome (I2)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import pyarrow.compute as pc

from partner_api.errors import PartnerError, ThrottledError
from shelfsync.catalog.job_feedback import parse_feedback
from shelfsync.catalog.ledger import batches
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.log_limits import log_bytes_max, log_s_max
from shelfsync.catalog.log_reader import TruncatedLogError, parse_log
from shelfsync.catalog.outcome import match, unmatched
from shelfsync.catalog.steps.each_open_job import each_open_job
from shelfsync.catalog.steps.outcomes import all_alike, ended_without_log, leave_unconfirmed, write_outcomes
from shelfsync.catalog.steps.readback import with_listing
from shelfsync.errors import DataError, StaleRunError, TryAgainError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.download_ahead import File, fetched_ahead
from shelfsync.platform.jobs.job import blames_the_file, database_is_away, is_final, reason_of
from shelfsync.platform.jobs.job_event import received
from shelfsync.platform.jobs.poll import Report, known, poll
from shelfsync.platform.jobs.result import first_usable
from shelfsync.platform.jobs.table import State
from shelfsync.vendors.isolation import Done, Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context
    from shelfsync.platform.jobs.download_ahead import Ahead
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)


def confirm(
    context: Context,
    run_id: int,
    names: Iterable[str],
    *,
    comes_back: bool = True,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> StepReport:
    """Writes the outcomes of each vendor's open jobs of this run, as far as the platform has ended them.

    `progress(done, all)` counts vendors.
    """
    otherwise = "no job of this run is open"
    wanted = list(names)
    with context.engine.connect() as connection:
        jobs = catalog_jobs.open_jobs(connection, run_id=run_id, vendors=wanted)
    with fetched_ahead(context, jobs, lambda job: job.vendor, partial(_file_of, context)) as ahead:
        return each_open_job(
            context,
            run_id,
            wanted,
            "confirm",
            partial(_confirm, ahead=ahead),
            otherwise=otherwise,
            comes_back=comes_back,
            in_order=lambda names: _counted(ahead.in_order(names, str), len(wanted), progress),
        )


def _counted(names: Iterable[str], every: int, progress: Callable[[int, int], None]) -> Iterator[str]:
    for number, name in enumerate(names):
        progress(number, every)
        yield name
    progress(every, every)


def _confirm(context: Context, job: CatalogJob, lease: Lease, *, ahead: Ahead) -> None:
    if job.state == State.CONFIRMED:
        raise Done
    news = Report()
    try:
        news = known(context, job, received(context, lease.session, job))
        if not news.ended and (job.poll_due or job.overdue):
            news = poll(context, job)
        if news.ended:
            write_ended(context, job, news, lease, ahead)
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


def write_ended(context: Context, job: CatalogJob, news: Report, lease: Lease, ahead: Ahead) -> None:
    """Writes the outcomes of a job that the platform has ended, in one transaction with the warehouse."""
    batch = batches.read(lease.session, job.batch_id)
    items = context.lake.read_table(batch.items_path)
    found = _log_of(context, job, news, lease, ahead)
    if found.lines is None:
        outcomes = _without_log(context, job, items, found)
    else:
        outcomes = _by_log(context, job, items, found.lines)
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


@dataclass
class _Log:
    """The log of an ended job. `lines`: None if none will come, for the reason `trouble`; that too is None where the job has no link.

    `news`: the platform's last report of the job.
    """

    news: Report
    lines: pa.Table | None = None
    trouble: Exception | None = None


def _by_log(context: Context, job: CatalogJob, items: pa.Table, lines: pa.Table) -> pa.Table:
    key = context.settings.platform.item_key
    unmatched_lines = unmatched(items, lines, key).num_rows
    if unmatched_lines:
        log.warning(
            "confirm: vendor %s, job %d: %d lines of the log match no SKU sent",
            job.vendor,
            job.job_id,
            unmatched_lines,
        )
    return match(items, lines, key)


def _without_log(context: Context, job: CatalogJob, items: pa.Table, found: _Log) -> pa.Table:
    """The outcomes of a job whose log cannot be read: by the results of its status, then by the listing, at once (I10, I15).

    If a log never comes, a job that waits for it keeps every later change of its vendor, stop-sells too. The next delta sends the rest
    again. A job that FAILED has changed nothing, so the listing is not read.
    """
    why = ended_without_log(found.news.status or "ended")
    if found.trouble is not None:
        why += f" that can be read ({reason_of(found.trouble)})"
    if found.news.feedback is None:
        outcomes = all_alike(items, "unaccounted", why)
    else:
        outcomes = _by_log(context, job, items, parse_feedback(found.news.feedback))
    if (found.news.status or "").upper() == "FAILED":
        return outcomes
    try:
        return with_listing(context, job, items, outcomes)
    except ThrottledError:
        raise
    except PartnerError as error:
        log.warning("confirm: vendor %s, job %d: the listing proves nothing: %s", job.vendor, job.job_id, error)
        return outcomes


def _log_of(context: Context, job: CatalogJob, news: Report, lease: Lease, ahead: Ahead) -> _Log:
    """The job's log, downloaded once: its path is stored before its use. Raises the error of a log that may come later."""
    what = f"confirm: vendor {job.vendor}, job {job.job_id}"
    found = _Log(news)
    if job.result_path is not None:
        try:
            return _Log(news, _read_log(context, job, job.result_path, lease))
        except Exception as error:
            if not blames_the_file(error):
                raise
            log.error("%s: the stored log: %s", what, reason_of(error))  # noqa: TRY400  expected, in a line

    def use(url: str) -> pa.Table:
        path = ahead.path(context, job, job.vendor, url, _file_of(context, job))
        _keep(context, job, path, lease)  # if this process dies now, another download of the link may fail
        return _read_log(context, job, path, lease)

    def ask() -> Report:
        found.news = poll(context, job)
        return found.news

    def known_without(trouble: Exception | None) -> bool:
        # status and event may list the rejected SKUs alone: only the log, if it can still come, confirms the others
        if trouble is None:
            return job.feedback is not None
        found.trouble = trouble
        will_not_come = is_final(trouble) or job.error is not None or (job.overdue and found.news.feedback is not None)
        return will_not_come and not found.news.at_work

    try:
        found.lines = first_usable(context, news.links, use, ask, what=what, known_without=known_without)
    except Exception as error:
        if error is found.trouble:  # the log may come later: one more run tries to fetch it
            with context.engine.begin() as connection:
                lease.hold(connection)
                job_row.failed(connection, job.job_id, reason_of(error))
        raise
    return found


def _file_of(context: Context, job: CatalogJob) -> File:
    return File("log", job.priority, _bytes_max(context, job), log_s_max(job.sent))


def _bytes_max(context: Context, job: CatalogJob) -> int:
    return log_bytes_max(job.sent, bytes_per_sku=context.settings.sync.log_bytes_per_sku)


def _read_log(context: Context, job: CatalogJob, path: str, lease: Lease) -> pa.Table:
    """The log's lines. A truncated log counts up to its end. The path of an unreadable log is removed."""
    with context.lake.open(path) as file:
        try:
            return parse_log(file, whole=True, expanded_max_bytes=_bytes_max(context, job))
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


def read_back(context: Context, job: CatalogJob, lease: Lease) -> bool:
    """Confirms a job past its deadline by the listing, which is newer than the sending; False if the listing proves nothing.

    A SKU that it does not prove is unaccounted, and the next delta sends it again (I7).
    """
    with context.engine.connect() as connection:
        batch = batches.read(connection, job.batch_id)
    items = context.lake.read_table(batch.items_path)
    try:
        outcomes = with_listing(
            context, job, items, all_alike(items, "unaccounted", "no log came, and the listing does not show it")
        )
    except (PartnerError, TryAgainError) as error:  # rejected, or not allowed now: the job ends anyway
        log.warning("confirm: vendor %s, job %d: the listing proves nothing: %s", job.vendor, job.job_id, error)
        return False
    if not pc.any(pc.equal(outcomes["state"], "accepted")).as_py():
        return False
    write_outcomes(context, lease, job, batch, items, outcomes)
    return True
