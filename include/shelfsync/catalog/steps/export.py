"""export: requests each vendor's export from the platform (interface.md 4.4), and reports an export run as a whole.

An export changes nothing, so it may be requested again. `each_export` isolates the vendors for all steps of an export: one that fails stops no
other (I10).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from partner_api.errors import PartnerError
from shelfsync import logs
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import tables
from shelfsync.catalog.ledger.vendors import lately_acknowledged
from shelfsync.catalog.state import RunState
from shelfsync.catalog.warehouse.drift import drift_counts
from shelfsync.errors import NothingSyncedError, ShelfsyncError, TryAgainError
from shelfsync.inbox import events
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.platform.jobs.store_answer import store_answer, unpollable
from shelfsync.platform.jobs.submit import Accepted, GiveBack, GiveUp, Rejected, Request, Unconfirmed, submit
from shelfsync.platform.jobs.table import Kind, State
from shelfsync.vendors.forbidden_triage import ForbiddenTriage
from shelfsync.vendors.shards import shards
from shelfsync.vendors.step_report import Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from partner_api.jobs import Job as PlatformJob
    from shelfsync.catalog.ledger.exports import ExportJob
    from shelfsync.context import Context


log = logging.getLogger(__name__)
in_report = logs.in_report(__name__)


def plan_exports(context: Context, run_key: str, vendors: tuple[str, ...]) -> list[dict[str, Any]]:
    """The shards of an export: the requested vendors, else those of the settings, else every vendor that was in an extract."""
    with context.engine.begin() as connection:
        names = vendors or context.settings.sync.vendors or seen(connection)
        export_jobs.plan(connection, run_key, dict.fromkeys(names))
        planned = [one.vendor for one in export_jobs.of_run(connection, run_key)]
    if not planned:
        raise NothingSyncedError("export: no vendor is known yet. Run a sync first, or name the vendors.")
    sync = context.settings.sync
    return [{**shard, "run": run_key} for shard in shards(planned, 0, sync.vendors_per_shard, sync.shards_max)]


def export(context: Context, run_key: str, names: Iterable[str]) -> StepReport:
    """Sends one request a vendor. Its row is committed before the request."""
    triage = ForbiddenTriage(lately_acknowledged)

    def work(one: ExportJob) -> None:
        if one.state not in {State.PLANNED, State.SUBMITTING}:
            raise Skip("requested before")
        _request(context, one, triage)

    return each_export(context, run_key, names, "export", work)


def _request(context: Context, one: ExportJob, triage: ForbiddenTriage) -> None:
    """Requests one export. It changes nothing on the platform, so whatever else happened, its job stays as it is and is requested again."""

    def send(_again: bool) -> PlatformJob:
        with context.engine.begin() as connection:
            deadline_s = context.settings.export.deadline_s
            if not export_jobs.attempt(connection, one, deadline_s=deadline_s, after_event=events.newest()):
                raise Skip("requested before")
        return context.open_platform().export(one.vendor, priority="export")

    match submit(context, Request(one.job_id, one.name, one.vendor, send), triage):
        case Accepted(answer):
            with context.engine.begin() as connection:
                why_not = store_answer(context, connection, Kind.EXPORT, one.job_id, answer)
            if why_not is not None:
                raise unpollable(one.job_id, why_not)
        case GiveBack(error=error) | Unconfirmed(error) | GiveUp(error) | Rejected(error):
            raise error


def seen(connection: sa.Connection) -> tuple[str, ...]:
    """Vendors that were in an extract and are not forgotten; a vendor that a person only typed is not among them."""
    in_run = sa.exists().where(tables.vendor_run.c.vendor == tables.vendor.c.vendor)
    statement = (
        sa.select(tables.vendor.c.vendor)
        .where(in_run, tables.vendor.c.forgotten.is_(None))
        .order_by(tables.vendor.c.vendor)
    )
    return tuple(connection.execute(statement).scalars())


class LaterError(TryAgainError):
    """This vendor cannot be worked on now; the others can."""


def each_export(
    context: Context,
    run_key: str,
    vendors: Iterable[str],
    step: str,
    work: Callable[[ExportJob], None],
    *,
    in_order: Callable[[list[ExportJob]], Iterable[ExportJob]] = iter,
) -> StepReport:
    """Calls `work` for each export of these vendors, `in_order`. Raises an error that concerns every vendor, and writes any other to its row."""
    report = StepReport(step)
    later: LaterError | None = None
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key, vendors)
    for one in in_order(found):
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
        in_report.error("%s: vendor %s failed: %s", step, name, why)
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


_SUMS = ("drifts", "resent", "confirmed", "undecided")


def report_exports(context: Context, run_key: str) -> dict[str, Any]:
    """`{"run", "state", "error", "vendors": [...], "drift": {cause: {action: n}}, ..., "lines": [...]}` of an export run."""
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key)
        drift = drift_counts(connection, [one.observation_id for one in found if one.observation_id is not None])
    failed = [one for one in found if one.state != State.ACKNOWLEDGED]
    state, error, brief = RunState.SUCCEEDED if found else RunState.FAILED, None, None
    if failed:
        state = RunState.FAILED if len(failed) == len(found) else RunState.PARTLY_FAILED
        brief = f"{len(failed)} of {len(found)} exports did not end"
        error = f"{brief}: {failed[0].vendor}: {_why(failed[0])}"
    shown = [
        {
            "vendor": one.vendor,
            "state": one.state,
            "failed_step": one.failed_step,
            "error": None if one.state == State.ACKNOWLEDGED else _why(one),
        }
        for one in found
    ]
    sums = {name: sum(getattr(one, name) or 0 for one in found) for name in _SUMS}
    report = {"run": run_key, "state": state, "error": error, "brief": brief, **sums, "drift": drift, "vendors": shown}
    return {**report, "lines": _lines(report)}


def _why(one: export_jobs.ExportJob) -> str:
    return one.error or f"it is still {one.state}"


def _lines(report: dict[str, Any]) -> list[str]:
    lines = [
        (
            f"export {report['run']}: {report['state']}, {len(report['vendors'])} vendors, {report['drifts']:,} values differ,"
            f" {report['resent']:,} are sent again by the next delta, {report['confirmed']:,} lost confirmations were replaced by the export"
        )
    ]
    for cause, actions in report["drift"].items():
        count = sum(number for action, number in actions.items() if action != "ignore")
        if count:
            how = ", ".join(f"{number:,} {action}" for action, number in sorted(actions.items()))
            lines.append(f"{count:,} values {cause.replace('_', ' ')}: {how} (warehouse.drift)")
    if young := sum(report["drift"].get("export_older_than_change", {}).values()):
        lines.append(
            f"{young:,} values were acknowledged too shortly before for an export to show them (SHELFSYNC_DRIFT__PROPAGATION_S):"
            " export again later; explain shows each SKU"
        )
    if report["undecided"]:
        lines.append(
            f"{report['undecided']:,} products are on or off sale by a sales buffer that shelfsync does not know: whether they should be is not"
            " compared. Give it the buffer: SHELFSYNC_SUPPRESSION__SALES_BUFFER, or the ERP's column sales_buffer"
        )
    lines += [
        f"vendor {row['vendor']} failed at {row['failed_step'] or row['state']}: {row['error']}"
        for row in report["vendors"]
        if row["error"]
    ]
    return lines
