"""confirm: reads the log of each job and writes one outcome for every SKU sent. A 202 or a COMPLETED job is no outcome (I2)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import batches
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.log_limits import log_bytes_max, log_s_max
from shelfsync.catalog.log_reader import TruncatedLogError, parse_log
from shelfsync.catalog.steps.each_open_job import each_open_job
from shelfsync.catalog.steps.job_without_log import end_overdue, without_log
from shelfsync.catalog.steps.outcomes import by_log, write_outcomes
from shelfsync.errors import TryAgainError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.download_ahead import File, fetched_ahead
from shelfsync.platform.jobs.job import blames_the_file, database_is_away, is_final, reason_of
from shelfsync.platform.jobs.job_event import received
from shelfsync.platform.jobs.poll import Report, known, poll
from shelfsync.platform.jobs.result import first_usable
from shelfsync.platform.jobs.table import State
from shelfsync.vendors.lease import LeaseLostError
from shelfsync.vendors.step_report import Done, Skip, StepReport

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
        if only_our_own_pause or not job.overdue or database_is_away(error) or isinstance(error, LeaseLostError):
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
        outcomes = without_log(context, job, items, found.news, found.trouble)
    else:
        outcomes = by_log(context, job, items, found.lines)
    write_outcomes(context, lease, job, batch, items, outcomes)


@dataclass
class _Log:
    """The log of an ended job. `lines`: None if none will come, for the reason `trouble`; that too is None where the job has no link.

    `news`: the platform's last report of the job.
    """

    news: Report
    lines: pa.Table | None = None
    trouble: Exception | None = None


def _log_of(context: Context, job: CatalogJob, news: Report, lease: Lease, ahead: Ahead) -> _Log:
    """The job's log, downloaded once: its path is stored before its use. Raises the error of a log that may come later.

    `first_usable` calls `use` for each link, then `ask` once if none will do. It calls `known_without` without an error, where there is no
    link, before it asks; and with the last error before it raises that.
    """
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
        return (
            will_not_come and not found.news.at_work
        )  # at work: the answer to `ask` denies the end that an event reported

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
