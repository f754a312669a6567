"""Isolation for exports: a step works on the exports of some vendors, and one that fails stops no other (I10)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from partner_api.errors import PartnerError
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.steps.each_vendor import Skip, StepReport
from shelfsync.errors import ShelfsyncError, TryAgainError
from shelfsync.platform.jobs.job_errors import reason_of, stops_every_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.catalog.ledger.exports import ExportJob
    from shelfsync.context import Context

log = logging.getLogger(__name__)


class LaterError(TryAgainError):
    """This vendor cannot be worked on now; the others can."""


def each_export(
    context: Context, run_key: str, vendors: Iterable[str], step: str, work: Callable[[ExportJob], None]
) -> StepReport:
    """Calls `work` for each export of these vendors. Raises an error that concerns every vendor, and writes any other to its row."""
    report = StepReport(step)
    later: LaterError | None = None
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key, vendors)
    for one in found:
        try:
            work(one)
        except Skip as skip:
            report.skipped[one.vendor] = str(skip)
        except LaterError as error:
            later = later or error
        except Exception as error:  # whatever it is, the other vendors go on (I10)
            if stops_every_job(error):
                raise
            report.failed[one.vendor] = _note(context, one, step, error)
        else:
            report.done.append(one.vendor)
    for name, why in report.failed.items():
        log.error("%s: vendor %s failed: %s", step, name, why)
    if later is not None:
        raise later
    return report


def _note(context: Context, one: ExportJob, step: str, error: Exception) -> str:
    line = reason_of(error)
    if not isinstance(error, ShelfsyncError | PartnerError):
        log.error("%s: vendor %s", step, one.vendor, exc_info=error)
    with context.engine.begin() as connection:
        export_jobs.fail(connection, one, step, line, over=one.overdue)
    return line
