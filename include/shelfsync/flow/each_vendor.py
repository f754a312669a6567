"""Isolation: a step's work on some vendors, one after the other, where a vendor that fails stops nobody else."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partner_api.errors import PartnerError
from shelfsync import logs, metrics
from shelfsync.errors import ShelfsyncError
from shelfsync.flow.isolation import reason_of, stops_every_job
from shelfsync.ledger import jobs, vendor_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_runs import VendorRun

log = logging.getLogger(__name__)

STEPS = ("extract", "normalise", "diff", "guard", "batch", "deliver", "confirm", "acknowledge")
"""The words of the path, in order; the same words name tasks, log fields and metrics."""

ENDING = ("deliver", "confirm", "acknowledge")
"""The steps that bring a job to its end. While it is open nothing else of its vendor is sent (I5), so nothing may keep them from it."""

TAKEN_PATIENCE_S = 60.0
"""How long a step comes back to vendors that another process works on, after it has done the others."""
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

    def as_dict(self) -> dict[str, Any]:
        """Small enough for an XCom: counts, and a line for each vendor that needs one."""
        return {"step": self.step, "done": len(self.done), "skipped": self.skipped, "failed": self.failed}


class Skip(Exception):  # noqa: N818  not an error: a step's word that there is nothing to do for a vendor
    """There is nothing to do for this vendor in this step, and why."""


class Done(Skip):
    """This step has done its work for the vendor before, whatever became of the process that did it."""

    def __init__(self) -> None:
        super().__init__("done before")


class Taken(Skip):
    """Another process holds this vendor's lease."""

    def __init__(self) -> None:
        super().__init__("another process is working on this vendor")


def each_vendor(
    parts: Parts,
    run_id: int,
    vendors: Iterable[str],
    step: str,
    work: Callable[[VendorRun], None],
    *,
    comes_back: bool = True,
) -> StepReport:
    """Calls `work` for each vendor that has come this far.

    What concerns every vendor (configuration, the database, a pause of the whole platform) is raised; all else is written to the
    vendor's row, and the report of the run tells it. A vendor that another process works on comes again after the others (`comes_back`).
    """
    report = StepReport(step)
    _round(parts, run_id, vendors, report, work)
    until_s = parts.clock.monotonic_s() + (TAKEN_PATIENCE_S if comes_back else 0.0)
    while report.taken and parts.clock.monotonic_s() < until_s:
        parts.clock.sleep(TAKEN_EVERY_S)
        _round(parts, run_id, report.taken, report, work)
    report.skipped |= dict.fromkeys(report.taken, str(Taken()))
    for word, told in (("done", report.done), ("skipped", report.skipped), ("failed", report.failed)):
        metrics.count(f"{step}.vendors.{word}", len(told))
    return report


def _round(
    parts: Parts, run_id: int, vendors: Iterable[str], report: StepReport, work: Callable[[VendorRun], None]
) -> None:
    report.taken = []
    for name in vendors:
        with logs.about(run=run_id, vendor=name, step=report.step):
            _one_vendor(parts, run_id, name, report, work)


def _one_vendor(parts: Parts, run_id: int, name: str, report: StepReport, work: Callable[[VendorRun], None]) -> None:
    step = report.step
    with parts.engine.connect() as connection:
        row = vendor_runs.read(connection, run_id, name)
        reason = why_not(row, step)
        for_its_job = row is not None and reason is not None and _has_job_to_end(connection, row, step)
    if row is None or (reason and not for_its_job):
        report.skipped[name] = reason or "the run does not know this vendor"
        return
    began_s = parts.clock.monotonic_s()
    try:
        work(row)
    except Taken:
        report.taken.append(name)
    except Skip as skip:
        report.skipped[name] = str(skip)
        if isinstance(skip, Done) and row.failed_step == step:
            _mend(parts, row, step)  # who did the work died before it could say so
    except Exception as error:  # whatever it is, the other vendors go on (I10)
        if stops_every_job(error):
            raise
        report.failed[name] = _told(row, step, error) if for_its_job else fail(parts, row, step, error)
        log.error("%s: vendor %s failed: %s", step, name, report.failed[name])  # noqa: TRY400  its traceback, if any, was told
    else:
        metrics.timing(f"{step}.vendor", parts.clock.monotonic_s() - began_s)
        report.done.append(name)
        _mend(parts, row, step)


def fail(parts: Parts, row: VendorRun, step: str, error: Exception) -> str:
    """Writes a vendor's failure to its row; an error that is not one of ours is logged with its traceback as well."""
    line = _told(row, step, error)
    with parts.engine.begin() as connection:
        vendor_runs.write(connection, row.run_id, row.vendor, state="failed", failed_step=step, error=line)
    return line


def why_not(row: VendorRun | None, step: str) -> str | None:
    """Why a vendor is passed over before its work is looked at; None: go on."""
    if row is None:
        return None
    if row.state == "failed" and _before(row.failed_step, step):
        return f"failed at {row.failed_step}: {row.error}"
    if row.state == "superseded":
        return f"superseded: {row.error}"
    return None


def _told(row: VendorRun, step: str, error: Exception) -> str:
    if not isinstance(error, ShelfsyncError | PartnerError):
        log.error("%s: vendor %s", step, row.vendor, exc_info=error)
    return reason_of(error)


def _mend(parts: Parts, row: VendorRun, step: str) -> None:
    """The step that had failed, or one before it, has gone well now; what it wrote itself stays. A failure of an earlier step stands."""
    if row.state != "failed" or _before(row.failed_step, step):
        return
    with parts.engine.begin() as connection:
        now = vendor_runs.read(connection, row.run_id, row.vendor)
        state = {"state": "open"} if now is not None and now.state == "failed" else {}
        vendor_runs.write(connection, row.run_id, row.vendor, failed_step=None, error=None, **state)


def _before(failed_step: str | None, step: str) -> bool:
    return failed_step in STEPS and STEPS.index(failed_step) < STEPS.index(step)


def _has_job_to_end(connection: Connection, row: VendorRun, step: str) -> bool:
    """Whether a job of this very run keeps the vendor, whatever has become of the run; only a lost one is anything for deliver."""
    if step not in ENDING:
        return False
    job = jobs.open_job_of(connection, row.vendor)
    return job is not None and job.run_id == row.run_id and (step != "deliver" or job.state == "submitting")
