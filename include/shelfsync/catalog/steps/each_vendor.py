"""A step works through the vendors of a run. Each has its row, which names the step where it failed; a failure stops no other (I10)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from partner_api.errors import PartnerError
from shelfsync import logs, metrics
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.ledger import vendor_runs
from shelfsync.catalog.state import VendorState
from shelfsync.errors import ShelfsyncError
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.platform.jobs.table import State
from shelfsync.vendors.step_report import Done, Skip, StepReport, Taken
from shelfsync.vendors.under_lease import TAKEN_EVERY_S, TAKEN_WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from sqlalchemy.engine import Connection

    from partner_api.session import Clock
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context

log = logging.getLogger(__name__)
in_report = logs.in_report(__name__)

_Facts = TypeVar("_Facts")

PREPARE = ("normalise", "diff", "guard", "batch")
"""The steps that find what to send."""

ENDING = ("deliver", "confirm", "acknowledge")
"""The steps that end a job. While a job is open, shelfsync sends no newer generation of its vendor (I5), so nothing may stop them."""

ORDER = ("extract", *PREPARE, *ENDING)
"""The steps of the path, in order. Files, log fields and metrics have the same names; a task takes one or more steps."""

TRUSTED_S = 1.0
"""How long a step relies on a vendor's row that it read with those of the other vendors."""


class Overtaken(Skip):
    """Another process of this run has gone on with the vendor, and this one writes nothing."""

    def __init__(self) -> None:
        super().__init__("another process of this run has gone on with this vendor")


def each_vendor(
    context: Context,
    run_id: int,
    vendors: Iterable[str],
    step: str,
    read: Callable[[Connection, VendorRun], _Facts],
    work: Callable[[VendorRun, _Facts], None],
    *,
    comes_back: bool = True,
    in_order: Callable[[Iterable[str]], Iterable[str]] = iter,
    ahead: Callable[[Connection, Collection[str]], None] | None = None,
) -> StepReport:
    """Calls `work` for each vendor that has done the steps before, with what `read` has of it in the ledger.

    `read` runs in the transaction that reads the vendor's row. Both may raise Skip. `ahead` runs wherever rows are read, with the names of
    their vendors: it reads what `read` needs, of all of them at once.
    An error that concerns every vendor (configuration, the database, a pause of the whole platform) is raised. Any other is written to
    the vendor's row, and the run reports it. `comes_back`: retries a vendor that another process works on, after the others.
    `vendors` may name one several times; it is skipped once it has failed. `in_order` yields them in the order of the work.

    The rows of all vendors are read at once. A vendor's row is read again if that was a while ago, or if it has a second turn.
    """
    report = StepReport(step)
    names = list(vendors)
    read_s = context.clock.monotonic_s()
    with context.engine.connect() as connection:
        rows = _rows(connection, run_id, set(names), ahead)

    def one(name: str) -> None:
        with logs.about(run=run_id, vendor=name, step=step):
            row = rows.pop(name, None)
            fresh = row if context.clock.monotonic_s() - read_s < TRUSTED_S else None
            _one_vendor(context, run_id, name, fresh, report, ahead, read, work)

    in_rounds(context.clock, in_order(names), report, one, wait_s=TAKEN_WAIT_S if comes_back else 0.0)
    for word, count in report.counts().items():
        metrics.count(f"{step}.vendors.{word}", count)
    return report


def in_rounds(
    clock: Clock, vendors: Iterable[str], report: StepReport, one: Callable[[str], None], *, wait_s: float
) -> None:
    """Calls `one` for each vendor that has not failed, and for `wait_s` again for those that it reports as taken.

    `one` writes to the report what became of the vendor.
    """
    _round(vendors, report, one)
    until_s = clock.monotonic_s() + wait_s
    while report.taken and clock.monotonic_s() < until_s:
        clock.sleep(TAKEN_EVERY_S)
        _round(report.taken, report, one)
    for name in report.taken:
        report.skip(name, str(Taken()))


def _round(vendors: Iterable[str], report: StepReport, one: Callable[[str], None]) -> None:
    report.taken = []
    for name in (name for name in vendors if name not in report.failed):
        one(name)


def _rows(
    connection: Connection,
    run_id: int,
    names: Collection[str],
    ahead: Callable[[Connection, Collection[str]], None] | None,
) -> dict[str, VendorRun]:
    found = vendor_runs.of_vendors(connection, run_id, names)
    if ahead is not None and found:
        ahead(connection, found)
    return found


def nothing(connection: Connection, row: VendorRun) -> None:
    """The `read` of a step that reads the ledger under its lease."""


def write(connection: Connection, row: VendorRun, **values: Any) -> None:
    """Writes what a step before the sending found to the vendor's row. These steps hold no lease: Overtaken undoes their transaction."""
    if not vendor_runs.prepare(connection, row, **values):
        raise Overtaken


def _one_vendor(
    context: Context,
    run_id: int,
    name: str,
    row: VendorRun | None,
    report: StepReport,
    ahead: Callable[[Connection, Collection[str]], None] | None,
    read: Callable[[Connection, VendorRun], _Facts],
    work: Callable[[VendorRun, _Facts], None],
) -> None:
    """`row`: the vendor in the run, if it is read already."""
    step, for_its_job = report.step, False
    began_s = context.clock.monotonic_s()
    try:
        with context.engine.connect() as connection:
            row = row or _rows(connection, run_id, [name], ahead).get(name)
            reason = why_not(row, step)
            for_its_job = row is not None and reason is not None and _has_job_to_end(connection, row, step)
            if row is None or (reason and not for_its_job):
                report.skip(name, reason or "the run does not know this vendor")
                return
            facts = read(connection, row)
        work(row, facts)
    except Taken:
        report.taken.append(name)
    except Skip as skip:
        report.skip(name, str(skip))
        if row is not None and isinstance(skip, Done) and row.failed_step == step:
            _clear_failure(context, row, step)  # the process that did the work died before it could clear the failure
    except Exception as error:  # whatever it is, the other vendors go on (I10)
        if row is None or stops_every_job(error):
            raise
        line = _reason(row, step, error)
        if not for_its_job and not _fail(context, row, step, line):
            report.skip(name, f"{Overtaken()}; here it failed: {line}")
            log.warning("%s: vendor %s: %s", step, name, report.skipped.get(name, line))
            return
        report.fail(name, line)
        in_report.error("%s: vendor %s failed: %s", step, name, line)
    else:
        metrics.timing(f"{step}.vendor", context.clock.monotonic_s() - began_s)
        report.do(name)
        _clear_failure(context, row, step)


def _fail(context: Context, row: VendorRun, step: str, line: str) -> bool:
    """Writes a vendor's failure to its row. False: another process has overtaken a step before the sending, and the row is its own."""
    failure = {"state": VendorState.FAILED, "failed_step": step, "error": line}
    with context.engine.begin() as connection:
        if step in PREPARE:
            return vendor_runs.prepare(connection, row, **failure)
        vendor_runs.write(connection, row.run_id, row.vendor, **failure)
    return True


def why_not(row: VendorRun | None, step: str) -> str | None:
    """Why the step skips a vendor without reading its work; None: continue."""
    if row is None:
        return None
    if row.state == VendorState.FAILED and _before(row.failed_step, step):
        return f"failed at {row.failed_step}: {row.error}"
    if row.state == VendorState.SUPERSEDED:
        return f"superseded: {row.error}"
    if row.same_as is not None:
        return "read again, the same"
    return None


def _reason(row: VendorRun, step: str, error: Exception) -> str:
    """The error in one line. An unexpected one is logged with its traceback as well."""
    if not isinstance(error, ShelfsyncError | PartnerError):
        log.error("%s: vendor %s", step, row.vendor, exc_info=error)
    return reason_of(error)


def _clear_failure(context: Context, row: VendorRun, step: str) -> None:
    """Clears the failure of this step or a later one after a success. A failure of an earlier step stays."""
    if row.state != VendorState.FAILED or _before(row.failed_step, step):
        return
    with context.engine.begin() as connection:
        vendor_runs.clear_failure(connection, row, ORDER[: ORDER.index(step)])


def _before(failed_step: str | None, step: str) -> bool:
    return failed_step in ORDER and ORDER.index(failed_step) < ORDER.index(step)


def _has_job_to_end(connection: Connection, row: VendorRun, step: str) -> bool:
    """Whether a job of this run is open for the vendor, whatever the run's state. For deliver only a lost request counts."""
    if step not in ENDING:
        return False
    found = catalog_jobs.open_jobs(connection, run_id=row.run_id, vendors=[row.vendor])
    return any(step != "deliver" or job.state == State.SUBMITTING for job in found)
