"""A step works through the open jobs of a run, each under the lease of its vendor."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from shelfsync import logs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps.each_vendor import each_vendor, nothing
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.vendors.lease import LeaseLostError
from shelfsync.vendors.step_report import Done, Skip
from shelfsync.vendors.under_lease import holding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.platform.jobs.job import Job
    from shelfsync.vendors.lease import Lease
    from shelfsync.vendors.step_report import StepReport

log = logging.getLogger(__name__)
_Job = TypeVar("_Job", bound="Job")


def each_open_job(
    context: Context,
    run_id: int,
    names: Iterable[str],
    step: str,
    work: Callable[[Context, CatalogJob, Lease], None],
    *,
    otherwise: str,
    comes_back: bool,
    in_order: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> StepReport:
    """Calls `work` for each open job of this run, under the lease of its vendor. `otherwise`: why a vendor without one is skipped."""

    def each(row: VendorRun, _nothing: None) -> None:
        with holding(context, row.vendor) as lease:
            found = catalog_jobs.open_jobs(lease.session, run_id=run_id, vendors=[row.vendor])
            if not found:
                raise Skip(otherwise)
            each_job(found, lambda job: work(context, job, lease))

    return each_vendor(context, run_id, names, step, nothing, each, comes_back=comes_back, in_order=in_order)


def each_job(found: Iterable[_Job], work: Callable[[_Job], None]) -> None:
    """Calls `work` for each job of a vendor; one that fails stops no other, and the first failure is raised at the end (I10).

    Raises Skip if there was nothing to do for any job.
    """
    done = 0
    skips: list[Skip] = []
    failures: list[Exception] = []
    for job in found:
        with logs.about(job=job.job_id):
            try:
                work(job)
            except Skip as skip:
                skips.append(skip)
            except Exception as error:
                if stops_every_job(error) or isinstance(error, LeaseLostError):
                    raise
                log.error("%s: %s", job.name, reason_of(error))  # noqa: TRY400  in a line
                failures.append(error)
            else:
                done += 1
    if failures:
        raise failures[
            0
        ]  # `holding` looks first whether the lease was lost; until then `Lease.hold` stopped each further job
    if skips and not done:
        raise next((skip for skip in skips if not isinstance(skip, Done)), skips[0])
