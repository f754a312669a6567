"""Isolation: a step works on some vendors, one after the other, and a vendor or a job that fails stops no other (I10)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from shelfsync import logs
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.vendors.lease import LeaseLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from partner_api.session import Clock
    from shelfsync.platform.jobs.job import Job

log = logging.getLogger(__name__)
_Job = TypeVar("_Job", bound="Job")

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
        raise failures[0]
    if skips and not done:
        raise next((skip for skip in skips if not isinstance(skip, Done)), skips[0])
