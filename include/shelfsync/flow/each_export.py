"""Isolation for exports: a step's work on the exports of some vendors, where one that fails stops nobody else (I10)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from partner_api.errors import PartnerError
from shelfsync.errors import ShelfsyncError, TryAgainError
from shelfsync.flow.each_vendor import Skip, StepReport
from shelfsync.flow.isolation import reason_of, stops_every_job
from shelfsync.ledger import exports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.exports import Export

log = logging.getLogger(__name__)


class LaterError(TryAgainError):
    """This vendor cannot be worked on now; the others can."""


def each_export(
    parts: Parts, run_key: str, vendors: Iterable[str], step: str, work: Callable[[Export], None]
) -> StepReport:
    """Calls `work` for each export of these vendors; what concerns every vendor is raised, all else is written to its row."""
    report = StepReport(step)
    later: LaterError | None = None
    with parts.engine.connect() as connection:
        found = exports.of_run(connection, run_key, vendors)
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
            report.failed[one.vendor] = _note(parts, one, step, error)
        else:
            report.done.append(one.vendor)
    for name, why in report.failed.items():
        log.error("%s: vendor %s failed: %s", step, name, why)
    if later is not None:
        raise later
    return report


def _note(parts: Parts, one: Export, step: str, error: Exception) -> str:
    line = reason_of(error)
    if not isinstance(error, ShelfsyncError | PartnerError):
        log.error("%s: vendor %s", step, one.vendor, exc_info=error)
    with parts.engine.begin() as connection:
        exports.trouble(connection, one.export_id, step, line, over=one.overdue)
    return line
