"""Isolation: a step works on some vendors, one after the other, and a vendor that fails stops no other.

The 403 triage decides whether the platform forbids one vendor or the credentials. A forbidden vendor stops no other (I10).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from partner_api.errors import CredentialsError, PartnerError
from shelfsync import logs, metrics
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.ledger import vendor_runs, vendors
from shelfsync.catalog.state import VendorState
from shelfsync.errors import ShelfsyncError, TryAgainError
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.platform.jobs.table import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy.engine import Connection

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

TAKEN_WAIT_S = 60.0
"""How long a step retries vendors that another process works on, after the other vendors."""
TAKEN_EVERY_S = 1.0


@dataclass
class StepReport:
    """What a step did, as plain values: vendors done, vendors passed over and why, vendors failed and why."""

    step: str
    done: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    """Vendors that another process worked on in the last round."""

    def do(self, name: str) -> None:
        """Records work done for this vendor."""
        self.skipped.pop(name, None)
        if name not in self.done:
            self.done.append(name)

    def skip(self, name: str, why: str) -> None:
        """Records that nothing was done for this vendor, unless an earlier round did something."""
        if name not in self.done:
            self.skipped[name] = why

    def fail(self, name: str, why: str) -> None:
        """Records that this vendor failed, even if an earlier round did something."""
        self.skipped.pop(name, None)
        if name in self.done:
            self.done.remove(name)
        self.failed[name] = why

    def counts(self) -> dict[str, int]:
        """Vendors done, skipped and failed so far."""
        return {"done": len(self.done), "skipped": len(self.skipped), "failed": len(self.failed)}

    def as_dict(self) -> dict[str, Any]:
        """Small enough for an XCom: counts, and a line for each vendor that needs one."""
        return {"step": self.step, "done": len(self.done), "skipped": self.skipped, "failed": self.failed}


class Skip(Exception):  # noqa: N818  not an error: there is nothing to do for a vendor
    """There is nothing to do for this vendor in this step, and why."""


class Done(Skip):
    """An earlier process has done this step for the vendor."""

    def __init__(self) -> None:
        super().__init__("done before")


class Taken(Skip):
    """Another process holds this vendor's lease."""

    def __init__(self) -> None:
        super().__init__("another process is working on this vendor")


def each_vendor(
    context: Context,
    run_id: int,
    vendors: Iterable[str],
    step: str,
    read: Callable[[Connection, VendorRun], _Facts],
    work: Callable[[VendorRun, _Facts], None],
    *,
    comes_back: bool = True,
) -> StepReport:
    """Calls `work` for each vendor that has done the steps before, with what `read` has of it in the ledger.

    `read` runs in the transaction that reads the vendor's row. Both may raise Skip.
    An error that concerns every vendor (configuration, the database, a pause of the whole platform) is raised. Any other is written to
    the vendor's row, and the run reports it. `comes_back`: retries a vendor that another process works on, after the others.
    `vendors` may name one several times; it is skipped once it has failed.
    """
    report = StepReport(step)
    _round(context, run_id, vendors, report, read, work)
    until_s = context.clock.monotonic_s() + (TAKEN_WAIT_S if comes_back else 0.0)
    while report.taken and context.clock.monotonic_s() < until_s:
        context.clock.sleep(TAKEN_EVERY_S)
        _round(context, run_id, report.taken, report, read, work)
    for name in report.taken:
        report.skip(name, str(Taken()))
    for word, count in report.counts().items():
        metrics.count(f"{step}.vendors.{word}", count)
    return report


def nothing(connection: Connection, row: VendorRun) -> None:
    """The `read` of a step that reads the ledger under its lease."""


def _round(
    context: Context,
    run_id: int,
    vendors: Iterable[str],
    report: StepReport,
    read: Callable[[Connection, VendorRun], _Facts],
    work: Callable[[VendorRun, _Facts], None],
) -> None:
    report.taken = []
    for name in (name for name in vendors if name not in report.failed):
        with logs.about(run=run_id, vendor=name, step=report.step):
            _one_vendor(context, run_id, name, report, read, work)


def _one_vendor(
    context: Context,
    run_id: int,
    name: str,
    report: StepReport,
    read: Callable[[Connection, VendorRun], _Facts],
    work: Callable[[VendorRun, _Facts], None],
) -> None:
    step, row, for_its_job = report.step, None, False
    began_s = context.clock.monotonic_s()
    try:
        with context.engine.connect() as connection:
            row = vendor_runs.read(connection, run_id, name)
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
        report.fail(name, _reason(row, step, error) if for_its_job else fail(context, row, step, error))
        in_report.error("%s: vendor %s failed: %s", step, name, report.failed[name])
    else:
        metrics.timing(f"{step}.vendor", context.clock.monotonic_s() - began_s)
        report.do(name)
        _clear_failure(context, row, step)


def fail(context: Context, row: VendorRun, step: str, error: Exception) -> str:
    """Writes a vendor's failure to its row. An unexpected error is logged with its traceback as well."""
    line = _reason(row, step, error)
    with context.engine.begin() as connection:
        vendor_runs.write(connection, row.run_id, row.vendor, state=VendorState.FAILED, failed_step=step, error=line)
    return line


def why_not(row: VendorRun | None, step: str) -> str | None:
    """Why the step skips a vendor without reading its work; None: continue."""
    if row is None:
        return None
    if row.state == VendorState.FAILED and _before(row.failed_step, step):
        return f"failed at {row.failed_step}: {row.error}"
    if row.state == VendorState.SUPERSEDED:
        return f"superseded: {row.error}"
    return None


def _reason(row: VendorRun, step: str, error: Exception) -> str:
    if not isinstance(error, ShelfsyncError | PartnerError):
        log.error("%s: vendor %s", step, row.vendor, exc_info=error)
    return reason_of(error)


def _clear_failure(context: Context, row: VendorRun, step: str) -> None:
    """Clears the failure of this step or a later one after a success. A failure of an earlier step stays."""
    if row.state != VendorState.FAILED or _before(row.failed_step, step):
        return
    with context.engine.begin() as connection:
        now = vendor_runs.read(connection, row.run_id, row.vendor)
        state = {"state": VendorState.OPEN} if now is not None and now.state == VendorState.FAILED else {}
        vendor_runs.write(connection, row.run_id, row.vendor, failed_step=None, error=None, **state)


def _before(failed_step: str | None, step: str) -> bool:
    return failed_step in ORDER and ORDER.index(failed_step) < ORDER.index(step)


def _has_job_to_end(connection: Connection, row: VendorRun, step: str) -> bool:
    """Whether a job of this run is open for the vendor, whatever the run's state. For deliver only a lost request counts."""
    if step not in ENDING:
        return False
    found = catalog_jobs.open_jobs(connection, run_id=row.run_id, vendors=[row.vendor])
    return any(step != "deliver" or job.state == State.SUBMITTING for job in found)


FORBIDDEN_IN_A_ROW = 5
"""After so many forbidden vendors in a row, with none accepted before, the credentials may read and not send."""
OTHERS_ASKED = 3
"""How many other vendors are checked. If all are forbidden, the credentials are; one that answers is enough."""


class ForbiddenTriage:
    """Counts the 403s of a step over many vendors."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._allowed = False
        self._served = False

    def served(self) -> None:
        """Records that the platform accepted a vendor's request."""
        self._in_a_row = 0
        self._allowed = self._served = True

    def alone(self, context: Context, vendor: str, error: CredentialsError) -> bool:
        """Whether only this vendor is forbidden; otherwise the credentials are, for all. Checks a few other vendors.

        A missing token, or a new token that is rejected (401), never concerns one vendor only.
        """
        if error.operation == "token" or error.status != 403:
            return False
        self._in_a_row += 1
        if self._in_a_row >= FORBIDDEN_IN_A_ROW:
            if not self._served:
                return False
            self._in_a_row, self._allowed = 0, False  # check again: the state at the beginning may have changed
        self._allowed = self._allowed or _others_allowed(context, vendor)
        return self._allowed


def _others_allowed(context: Context, vendor: str) -> bool:
    """Whether the platform answers about another vendor; False if there is none. A check that fails otherwise counts as an answer."""
    with context.engine.connect() as connection:
        others = vendors.lately_acknowledged(connection, but=vendor, most=OTHERS_ASKED)
    for name in others:
        try:
            context.open_platform().check(name)
        except CredentialsError as error:
            log.warning("vendor %s is forbidden, and so is %s: %s", vendor, name, error)
        except (PartnerError, TryAgainError) as error:
            log.warning("vendor %s is forbidden; whether others are cannot be checked now: %s", vendor, error)
            return True
        else:
            return True
    return False
