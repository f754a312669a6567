"""What becomes of a job whose log cannot be had: the results of its status count, then the platform's listing; after its deadline, it ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NoReturn

import pyarrow.compute as pc

from partner_api.errors import PartnerError, ThrottledError
from shelfsync.catalog.job_feedback import parse_feedback
from shelfsync.catalog.ledger import batches
from shelfsync.catalog.steps.outcomes import all_alike, by_log, ended_without_log, leave_unconfirmed, write_outcomes
from shelfsync.catalog.steps.readback import with_listing
from shelfsync.errors import DataError, TryAgainError
from shelfsync.platform.jobs.job import database_is_away, reason_of
from shelfsync.vendors.lease import LeaseLostError

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context
    from shelfsync.platform.jobs.poll import Report
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)


def without_log(
    context: Context, job: CatalogJob, items: pa.Table, news: Report, trouble: Exception | None
) -> pa.Table:
    """The outcomes of a job whose log cannot be read: by the results of its status, then by the listing, at once (I10, I15).

    If a log never comes, a job that waits for it keeps every later change of its vendor, stop-sells too. The next delta sends the rest
    again. A job that FAILED has changed nothing, so the listing is not read. `trouble`: why the log cannot be read; None: the job has no link.
    """
    why = ended_without_log(news.status or "ended")
    if trouble is not None:
        why += f" that can be read ({reason_of(trouble)})"
    if news.feedback is None:
        outcomes = all_alike(items, "unaccounted", why)
    else:
        outcomes = by_log(context, job, items, parse_feedback(news.feedback))
    if (news.status or "").upper() == "FAILED":
        return outcomes
    try:
        return with_listing(context, job, items, outcomes)
    except ThrottledError:
        raise
    except PartnerError as error:
        log.warning("confirm: vendor %s, job %d: the listing proves nothing: %s", job.vendor, job.job_id, error)
        return outcomes


def end_overdue(context: Context, job: CatalogJob, lease: Lease, trouble: Exception | None = None) -> None:
    """Ends a job after its deadline: by the platform's listing if that is cheap, otherwise as unconfirmed.

    If the platform or shelfsync pauses all requests, the listing is not read: it would delay one vendor after the other.
    """
    waiting = isinstance(trouble, ThrottledError | TryAgainError)
    if waiting or not _shown_in_listing(context, job, lease):
        _give_up(context, job, lease, trouble)


def _shown_in_listing(context: Context, job: CatalogJob, lease: Lease) -> bool:
    """Whether the listing ended the job. The job ends even if the listing cannot be read."""
    try:
        return _read_back(context, job, lease)
    except Exception as error:
        if database_is_away(error) or isinstance(error, LeaseLostError):
            raise
        log.error("confirm: vendor %s, job %d: the listing: %s", job.vendor, job.job_id, reason_of(error))  # noqa: TRY400
        return False


def _give_up(context: Context, job: CatalogJob, lease: Lease, trouble: Exception | None = None) -> NoReturn:
    """Ends a job after its deadline as unconfirmed: nothing is acknowledged, and the next delta sends the ERP's values (I7)."""
    why = "no confirmation came before the deadline" + (f" ({reason_of(trouble)[:800]})" if trouble else "")
    skus = leave_unconfirmed(context, lease, job.job_id, why)
    raise DataError(
        f"job {job.job_id}: {why}; {skus} SKUs are unconfirmed and will be sent again. Are the webhook's address and secret right?"
    )


def _read_back(context: Context, job: CatalogJob, lease: Lease) -> bool:
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
