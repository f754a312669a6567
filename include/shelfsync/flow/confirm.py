"""confirm: the log of each job, one outcome for every SKU that was sent. A 202 or a COMPLETED job is neither (I2)."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from partner_api.errors import ThrottledError
from shelfsync import logs
from shelfsync.errors import DataError, StaleRunError, TryAgainError
from shelfsync.flow import hear
from shelfsync.flow.doubt import leave_in_doubt
from shelfsync.flow.each_vendor import Done, Skip, StepReport, each_vendor
from shelfsync.flow.holding import holding
from shelfsync.flow.isolation import blames_the_file, database_is_away, reason_of
from shelfsync.flow.outcomes import all_alike, ended_without_log, write_outcomes
from shelfsync.flow.readback import read_back
from shelfsync.flow.result_file import download, first_usable
from shelfsync.ledger import batches, jobs

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.flow.hear import News
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.vendor_runs import VendorRun

log = logging.getLogger(__name__)


def confirm(parts: Parts, run_id: int, names: Iterable[str], *, comes_back: bool = True) -> StepReport:
    """Settles the open job of each vendor of this run, as far as the platform has ended it."""

    def work(row: VendorRun) -> None:
        with holding(parts, row.vendor) as lease:
            confirm_open_job(parts, row, lease)

    return each_vendor(parts, run_id, names, "confirm", work, comes_back=comes_back)


def confirm_open_job(parts: Parts, row: VendorRun, lease: Lease) -> None:
    """The open job of one vendor and run."""
    with parts.engine.connect() as connection:
        job = jobs.open_job_of(connection, row.vendor)
    if job is None or job.run_id != row.run_id:
        raise Skip("no job of this run is open")
    if job.state == "confirmed":
        raise Done
    with logs.about(job=job.job_id):
        _confirm(parts, job, lease)


def _confirm(parts: Parts, job: Job, lease: Lease) -> None:
    news = hear.News()
    try:
        news = hear.known(parts, job)
        if not news.ended and (job.poll_due or job.overdue):
            news = hear.ask(parts, job)
        if news.ended:
            settle(parts, job, news, lease)
            return
    except Exception as error:
        # a link that died, a log that is none, a question that is refused or may not leave: waiting for ever would block the vendor
        only_our_own_pause = news.ended and isinstance(error, TryAgainError)
        if only_our_own_pause or not job.overdue or database_is_away(error) or isinstance(error, StaleRunError):
            raise
        end_overdue(parts, job, lease, error)
        return
    if job.overdue:
        end_overdue(parts, job, lease)
        return
    raise Skip(f"job {job.job_id} is still {job.platform_status or job.state}; catalog_settle goes on with it")


def settle(parts: Parts, job: Job, news: News, lease: Lease) -> None:
    """Turns what an ended job left behind into outcomes, in one transaction with the warehouse."""
    with parts.engine.connect() as connection:
        batch = batches.read(connection, job.batch_id)
    items = parts.lake.read_table(batch.items_path)
    outcomes = _outcomes(parts, job, news, items, lease)
    write_outcomes(parts, lease, job, batch, items, outcomes)


def end_overdue(parts: Parts, job: Job, lease: Lease, trouble: Exception | None = None) -> None:
    """The deadline has passed: the listing has the last word where it is cheap to ask; otherwise nobody has.

    Nor while everybody is asked to wait: the listing's turn would come after the pause, one vendor after the other.
    """
    waiting = isinstance(trouble, ThrottledError | TryAgainError)
    if waiting or not _shown_in_listing(parts, job, lease):
        give_up(parts, job, lease, trouble)


def _shown_in_listing(parts: Parts, job: Job, lease: Lease) -> bool:
    """Whether the listing ended the job. Whatever it holds or raises, the job's time is over."""
    try:
        return read_back(parts, job, lease)
    except Exception as error:
        if database_is_away(error) or isinstance(error, StaleRunError):
            raise
        log.error("confirm: vendor %s, job %d: the listing: %s", job.vendor, job.job_id, reason_of(error))  # noqa: TRY400
        return False


def give_up(parts: Parts, job: Job, lease: Lease, trouble: Exception | None = None) -> NoReturn:
    """The deadline has passed: every SKU is unaccounted, nothing is acknowledged, and the next delta sends what is wanted then (I7)."""
    why = "no confirmation came before the deadline" + (f" ({reason_of(trouble)[:800]})" if trouble else "")
    skus = leave_in_doubt(parts, lease, job.job_id, why)
    raise DataError(
        f"job {job.job_id}: {why}; {skus} SKUs are unconfirmed and will be sent again. Is the webhook's address right?"
    )


def _outcomes(parts: Parts, job: Job, news: News, items: pa.Table, lease: Lease) -> pa.Table:
    from shelfsync.catalog.confirm import match, parse_feedback, unmatched

    key = parts.settings.platform.key
    lines = _log_lines(parts, job, news, lease)
    if lines is None and news.feedback is None:
        return all_alike(items, "unaccounted", ended_without_log(news.status))
    if lines is None:
        lines = parse_feedback(news.feedback or [])
    strangers = unmatched(items, lines, key).num_rows
    if strangers:
        log.warning(
            "confirm: vendor %s, job %d: %d lines of the log name no SKU that was sent",
            job.vendor,
            job.job_id,
            strangers,
        )
    return match(items, lines, key)


def _log_lines(parts: Parts, job: Job, news: News, lease: Lease) -> pa.Table | None:
    """The lines of the job's log, fetched once and kept; None when the job has none."""
    what = f"confirm: vendor {job.vendor}, job {job.job_id}"
    if job.log_path is not None:
        try:
            return _read_log(parts, job, job.log_path, lease)
        except Exception as error:
            if not blames_the_file(error):
                raise
            log.error("%s: the log that was kept: %s", what, reason_of(error))  # noqa: TRY400  expected, in a line

    def use(url: str) -> pa.Table:
        path = download(parts, url, "log", job.vendor, lane=job.lane)
        _keep(parts, job, path, lease)
        return _read_log(parts, job, path, lease)

    ask = partial(hear.ask, parts, job)
    return first_usable(parts, news.links, use, ask, what=what, else_nothing=news.feedback is not None)


def _read_log(parts: Parts, job: Job, path: str, lease: Lease) -> pa.Table:
    """The log's lines. One that is cut off counts as far as it goes; one that cannot be read or held is forgotten."""
    from shelfsync.catalog.confirm import parse_log
    from shelfsync.catalog.log import TruncatedLogError

    with parts.lake.open(path) as file:
        try:
            return parse_log(file, whole=True)
        except TruncatedLogError as error:
            log.error("confirm: vendor %s, job %d: %s", job.vendor, job.job_id, error)  # noqa: TRY400  told in a line
            return error.log
        except Exception:
            _keep(parts, job, None, lease)
            raise


def _keep(parts: Parts, job: Job, path: str | None, lease: Lease) -> None:
    with parts.engine.begin() as connection:
        lease.hold(connection)
        jobs.keep_log(connection, job.job_id, path)
