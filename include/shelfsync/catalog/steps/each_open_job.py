"""A step works through the open jobs of a run, each under the lease of its vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps.each_vendor import each_vendor, nothing
from shelfsync.vendors.isolation import Skip, each_job
from shelfsync.vendors.under_lease import holding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.vendors.isolation import StepReport
    from shelfsync.vendors.lease import Lease


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
