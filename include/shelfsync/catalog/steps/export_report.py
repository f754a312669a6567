"""An export run as a whole: all steps in one process, and its report."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.steps.export import plan_exports
from shelfsync.catalog.steps.table import run_export_step
from shelfsync.catalog.warehouse.drift import drift_counts, too_young
from shelfsync.platform.jobs.table import Kind, State
from shelfsync.platform.jobs.wait import until_ended
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.context import Context


SUMS = ("drifts", "resent", "confirmed", "undecided")


def export_all(
    context: Context, key: str, vendors: tuple[str, ...], *, progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """Runs an export run to its report. `progress(step, done, all)` is called as vendors go through each step."""
    shards = plan_exports(context, key, vendors)
    names = [name for shard in shards for name in shard["vendors"]]
    for word in ("export", "wait", "observe", "reconcile"):
        done = 0
        progress(word, done, len(names))
        for shard in shards:
            if word == "wait":
                asyncio.run(until_ended(context, Kind.EXPORT, key, shard["vendors"]))
            else:
                run_export_step(context, word, key, shard["vendors"])
            done += len(shard["vendors"])
            progress(word, done, len(names))
    return report_exports(context, key)


def report_exports(context: Context, run_key: str) -> dict[str, Any]:
    """`{"run", "state", "error", "vendors": [...], "drift": {cause: {action: n}}, ..., "lines": [...]}` of an export run."""
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key)
        drift = drift_counts(connection, [one.observation_id for one in found if one.observation_id is not None])
    failed = [one for one in found if one.state != State.ACKNOWLEDGED]
    state = "succeeded" if found and not failed else "failed" if len(failed) == len(found) else "partly_failed"
    error = None
    if failed:
        error = f"{len(failed)} of {len(found)} exports did not end: {failed[0].vendor}: {_why(failed[0])}"
    shown = [
        {
            "vendor": one.vendor,
            "state": one.state,
            "failed_step": one.failed_step,
            "error": None if one.state == State.ACKNOWLEDGED else _why(one),
        }
        for one in found
    ]
    sums = {name: sum(getattr(one, name) or 0 for one in found) for name in SUMS}
    report = {"run": run_key, "state": state, "error": error, **sums, "drift": drift, "vendors": shown}
    return {**report, "lines": _lines(report)}


def later_look(context: Context, run_key: str) -> tuple[list[str], dt.datetime]:
    """The vendors with values that were accepted too late to show in these exports, and when an export shows them."""
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key)
        young = too_young(connection, [one.observation_id for one in found if one.observation_id is not None])
        now: dt.datetime = connection.execute(sa.select(instant())).scalar_one()
    return young, now + dt.timedelta(seconds=context.settings.drift.propagation_s)


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
