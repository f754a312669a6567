"""The lease of a vendor: work on its jobs needs it. After the loss of the lease the work stops and writes nothing to the ledger."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from shelfsync import logs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps.each_vendor import TAKEN_EVERY_S, Done, Skip, Taken, each_vendor, nothing
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.store.leases import LeaseLostError, leased

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.catalog.steps.each_vendor import StepReport
    from shelfsync.context import Context
    from shelfsync.store.leases import Lease

log = logging.getLogger(__name__)


@contextlib.contextmanager
def holding(context: Context, vendor: str, *, wait_s: float = 0.0) -> Iterator[Lease]:
    """The vendor's lease. Raises Taken if another process holds it for `wait_s`, and Skip if another process took it over.

    Errors of a process that slept too long (dead connections, lost responses) are no failure of the vendor and are not recorded.
    """
    with _leased(context, vendor, wait_s) as lease:
        if lease is None:
            raise Taken
        try:
            with _lost_lease_first(context, lease):
                yield lease
        except LeaseLostError as lost:
            log.warning("%s", lost)
            raise Skip(str(lost)) from lost


def each_open_job(
    context: Context,
    run_id: int,
    names: Iterable[str],
    step: str,
    work: Callable[[Context, CatalogJob, Lease], None],
    *,
    otherwise: str,
    comes_back: bool,
) -> StepReport:
    """Calls `work` for each open job of this run, under the lease of its vendor. `otherwise`: why a vendor without one is skipped."""

    def each(row: VendorRun, _nothing: None) -> None:
        with holding(context, row.vendor) as lease:
            found = catalog_jobs.open_jobs(lease.session, run_id=run_id, vendors=[row.vendor])
            if not found:
                raise Skip(otherwise)
            _each_job(found, lambda job: work(context, job, lease))

    return each_vendor(context, run_id, names, step, nothing, each, comes_back=comes_back)


def _each_job(found: Iterable[CatalogJob], work: Callable[[CatalogJob], None]) -> None:
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
                log.error("vendor %s, job %d: %s", job.vendor, job.job_id, reason_of(error))  # noqa: TRY400  in a line
                failures.append(error)
            else:
                done += 1
    if failures:
        raise failures[0]
    if skips and not done:
        raise next((skip for skip in skips if not isinstance(skip, Done)), skips[0])


@contextlib.contextmanager
def _leased(context: Context, vendor: str, wait_s: float) -> Iterator[Lease | None]:
    until_s = context.clock.monotonic_s() + wait_s
    while True:
        with leased(context.engine, vendor, context.settings.sync.lease_s) as lease:
            if lease is not None or context.clock.monotonic_s() >= until_s:
                yield lease
                return
        context.clock.sleep(TAKEN_EVERY_S)


@contextlib.contextmanager
def _lost_lease_first(context: Context, lease: Lease) -> Iterator[None]:
    """Turns any error into LeaseLostError if the lease is lost."""
    try:
        yield
    except (Skip, LeaseLostError, DBAPIError):
        raise
    except Exception:
        lease.renew(context.engine)
        raise


LONG_BYTES = 1 << 20
"""The lease is renewed before the upload of a body from this size on, as it may have aged while the request waited for its slot."""


class HeldBody:
    """The chunks of a request body of so many bytes. The last one is sent only if the lease is still held."""

    def __init__(self, chunks: Iterable[bytes], body_bytes: int, context: Context, lease: Lease) -> None:
        self._chunks = chunks
        self._bytes = body_bytes
        self._context = context
        self._lease = lease

    def __iter__(self) -> Iterator[bytes]:
        if self._bytes >= LONG_BYTES:
            self._lease.renew(self._context.engine)
        yield from self._chunks
        self._lease.renew(self._context.engine)  # the client sends the last chunk after this returns
