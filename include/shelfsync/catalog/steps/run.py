"""Opens a run by its key, and closes it with a report of every vendor."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import change_files, runs, source_columns, tables, vendor_runs
from shelfsync.catalog.state import BatchState, RunState, VendorState
from shelfsync.catalog.steps import absent, counts, hold_lists, plan, status, urgent
from shelfsync.catalog.steps.each_vendor import PREPARE
from shelfsync.catalog.warehouse import missed_changes, quarantine, record
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import Subject
from shelfsync.errors import Alarm
from shelfsync.inbox import events
from shelfsync.platform import kill_switch
from shelfsync.platform.jobs.job import reason_of
from shelfsync.platform.jobs.table import State
from shelfsync.platform.jobs.table import job as job_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, RowMapping

    from shelfsync.context import Context

log = logging.getLogger(__name__)

_ROW = tables.vendor_run.c
_SHOWN = (
    "vendor",
    "state",
    "failed_step",
    "error",
    "rows_raw",
    "rows_snapshot",
    "rows_quarantined",
    "values_left_out",
    "changes_new",
    "changes_changed",
    "changes_removed",
    "changes_same",
    "changes_held",
    "changes_suppressed",
    "skus_absent",
    "plan_batches",
    "plan_bytes",
    "same_as",
)


def open_run(
    context: Context, *, kind: str, key: str, vendors: tuple[str, ...], skus: tuple[str, ...] = (), dry_run: bool
) -> int:
    """The number of the run of this key; a run that is opened again continues.

    `skus`: an urgent run, which sends only these SKUs of the named vendors.
    """
    urgent.check(kind, vendors, skus)
    with context.engine.begin() as connection:
        run_id = runs.open_run(connection, key=key, kind=kind, vendors=vendors, skus=skus, dry_run=dry_run)
        record.RUN.copy(connection, [run_id])
    log.info("run %d (%s%s) is open: %s", run_id, kind, ", dry" if dry_run else "", key)
    return run_id


@contextlib.contextmanager
def beginning(
    context: Context, *, kind: str, key: str, vendors: tuple[str, ...], skus: tuple[str, ...] = (), dry_run: bool
) -> Iterator[None]:
    """Around all that has to be in order before `open_run`. If that raises an error, the run is recorded as failed: an alert reports it.

    The error is raised again, whether the ledger could store it or not.
    """
    try:
        yield
    except Exception as error:
        with contextlib.suppress(Exception), context.engine.begin() as connection:  # the first error counts
            run_id = runs.open_run(connection, key=key, kind=kind, vendors=vendors, skus=skus, dry_run=dry_run)
            runs.close_run(connection, run_id, state=RunState.FAILED, error=reason_of(error))
            record.RUN.copy(connection, [run_id])
        raise


def report(context: Context, run_id: int) -> dict[str, Any]:
    """Closes the run and returns its report: `{"run", "kind", "state", "vendors": [...], "sent", "accepted", ..., "lines": [...]}`.

    `lines` are for people: the sums, and one for each vendor that failed.
    """
    with context.engine.begin() as connection:
        run = runs.read_run(connection, run_id)
        unfinished(connection, run_id)
        shown = _vendors(connection, run_id)
        state, brief, first = _ending(
            shown, _waiting(connection, run_id), nothing_changed=runs.read_changes(connection, run_id)
        )
        error = f"{brief}: {first}" if first else brief
        passed_over = vendor_runs.passed_over(connection, run_id)
        lost_events = events.quarantined_jobs(connection, run_id=run_id)
        unusable, new_unusable = (
            quarantine.unusable_of_run(connection, run_id),
            quarantine.unusable_news(connection, run_id),
        )
        missed = missed_changes.lines(connection, run_id) + change_files.lines(connection, run_id)
        missed += source_columns.lines(connection, run_id=run_id)
        runs.close_run(connection, run_id, state=state, error=error)
        record.RUN.copy(connection, [run_id])
        counted = sums(connection, run_id)
        fresh = status.freshness_of_run(connection, run_id)
        held = holds.in_force(connection, Subject.CATALOG, run_id=run_id)
        polled, ended = record.polled_instead(connection, run_id)
        needed = status.bound(context, connection, run_id, counted["jobs"])
        paused = kill_switch.lines(connection)
        missing = absent.of_run(connection, run_id)
        waits = None if run.dry_run else hold_lists.waits(connection, run.vendors, run_id=run_id)
    now = None if run.dry_run else counts.together(context, [row["vendor"] for row in shown])
    became = urgent.lines(context, run)
    status.report_gauges(context)
    about = {
        "run": run_id,
        "key": run.run_key,
        "kind": run.kind,
        "dry_run": run.dry_run,
        "state": state,
        "error": error,
        "brief": brief,
    }
    counted |= {"polled": polled, "ended": ended}
    summary = {
        **about,
        **counted,
        "paused": paused,
        "freshness": fresh,
        "bound": needed,
        "urgent": became,
        "vendors": shown,
        "counts": now,
    }
    summary["held"] = hold_lists.by_vendor(held)
    summary["absent"] = absent.lines(context, missing)
    summary["waits"] = waits
    summary["unusable_vendors"] = unusable
    alarms = [
        Alarm.PASSED_OVER.line(f"vendor {vendor} was passed over by two runs in a row, so its changes wait: {why}")
        for vendor, why in passed_over.items()
    ]
    summary["alarms"] = alarms + missed + lost_events + quarantine.unusable_lines(new_unusable)
    summary["runbooks"] = [alarm.page for alarm in _met(summary)]
    if not run.dry_run:
        return {**summary, "lines": lines(summary)}

    document = plan.plan_of(context, run_id)
    with context.engine.connect() as connection:
        summary["waits"] = hold_lists.would_wait(connection, document)
    return {**summary, "plan": document, "lines": [*lines(summary), *plan.lines(document)]}


def _met(summary: dict[str, Any]) -> list[Alarm]:
    """What a person may have to do something about after this run, besides its alarms, which name their own pages."""
    states = {row["state"] for row in summary["vendors"]}
    met = {
        Alarm.PAUSED: summary["paused"],
        Alarm.VENDOR_FAILED: VendorState.FAILED in states,
        Alarm.HELD: summary["held"],
        Alarm.UNACCOUNTED: summary["unaccounted"],
        Alarm.POLLED: summary["polled"],
    }
    return [alarm for alarm, present in met.items() if present]


def _ending(
    shown: list[dict[str, Any]], waiting: set[str], *, nothing_changed: bool = False
) -> tuple[RunState, str | None, str | None]:
    """The state of a run by the states of its vendors. If it is no plain success (I15): how many vendors, and why the first of them.

    `waiting`: vendors whose changes this run leaves to the next one. `nothing_changed`: a run without a vendor is a success.
    """
    if not shown and nothing_changed:
        return RunState.SUCCEEDED, None, None
    if not shown:
        return RunState.FAILED, "no vendor was extracted; see the log of the step extract", None
    if failed := [row for row in shown if row["state"] == VendorState.FAILED]:
        state = RunState.FAILED if len(failed) == len(shown) else RunState.PARTLY_FAILED
        return state, *_first(shown, failed, "failed")
    if over := [row for row in shown if row["state"] == VendorState.BUSY or row["vendor"] in waiting]:
        return RunState.PARTLY, *_first(shown, over, "were passed over")
    return RunState.SUCCEEDED, None, None


def _first(shown: list[dict[str, Any]], found: list[dict[str, Any]], word: str) -> tuple[str, str]:
    why = found[0]["error"] or "its requests are planned and were not sent; the next run sends them"
    return f"{len(found)} of {len(shown)} vendors {word}", f"{found[0]['vendor']}: {why}"


def _waiting(connection: Connection, run_id: int) -> set[str]:
    """Vendors whose changes no run has sent: superseded without a newer run (by an export or a pause), or only planned."""
    statement = (
        sa.select(_ROW.vendor)
        .join(tables.vendor, tables.vendor.c.vendor == _ROW.vendor)
        .where(_ROW.run_id == run_id, tables.vendor.c.fence <= _ROW.generation)
        .where(
            (_ROW.state == VendorState.SUPERSEDED) | ((_ROW.state == VendorState.OPEN) & _has_batch(BatchState.PLANNED))
        )
    )
    return set(connection.execute(statement).scalars())


def lines(summary: dict[str, Any]) -> list[str]:
    """The report for people: the sums, then one line for each vendor that needs attention."""
    rows = summary["vendors"]
    changed = sum(row["changes_new"] + row["changes_changed"] + row["changes_removed"] for row in rows)
    batches = sum(row["plan_batches"] for row in rows)
    planned = f"; {batches} request bodies, {sum(row['plan_bytes'] for row in rows):,} bytes"
    first = (
        f"run {summary['run']} ({summary['kind']}{', dry' if summary['dry_run'] else ''}): {summary['state']},"
        f" {len(rows)} vendors, {changed:,} SKUs changed{planned if batches else ''}"
    )
    report = [*(f"PAUSED: {stop}" for stop in summary["paused"]), first, *summary["alarms"]]
    report += [line for line in quarantine.unusable_lines(summary["unusable_vendors"]) if line not in report]
    if same := sum(row["same_as"] is not None for row in rows):
        report.append(f"{same:,} of {len(rows):,} vendors were read again, the same")
    suppressed = sum(row["changes_suppressed"] for row in rows)
    if suppressed:
        report.append(
            f"{suppressed:,} changed quantities are suppressed: they change nothing for a customer and wait for the full sync"
        )
    if not summary["dry_run"]:
        report.append(sent_line(summary))
    report += counts.lines(summary["counts"])
    report += summary["absent"]
    report += _times(summary)
    report += summary["urgent"]
    if summary["polled"]:
        report.append(
            f"{summary['polled']} of {summary['ended']} jobs ended without a webhook and were polled, which costs time and requests:"
            " check its address and secret (warehouse.confirmation)"
        )
    for row in rows:
        if summary["dry_run"] and row["state"] != VendorState.FAILED:
            report.append(_plan_line(row))
        if row["state"] == VendorState.FAILED:
            report.append(f"vendor {row['vendor']} failed at {row['failed_step']}: {row['error']}")
        elif row["state"] in {VendorState.BUSY, VendorState.SUPERSEDED}:
            report.append(
                f"vendor {row['vendor']} is {row['state']}: {row['error'] or 'its last job is still open; the next run continues'}"
            )
        if row["vendor"] in summary["held"]:
            report.append(f"vendor {row['vendor']}: {summary['held'][row['vendor']]}")
        report += _faulty(row)
    return [*report, *_runbooks(summary)]


def _faulty(row: dict[str, Any]) -> list[str]:
    """What cannot be sent of a vendor's rows, and what is there more than once."""
    rows = f"{row['rows_quarantined']} rows are quarantined"
    sent = "" if row["failed_step"] else ", and the rest of their rows is sent"
    values = f"{row['values_left_out']} faulty values are left out{sent}"
    found = [line for line, number in ((rows, row["rows_quarantined"]), (values, row["values_left_out"])) if number]
    lines = [f"vendor {row['vendor']}: {line} (`shelfsync quarantine`)" for line in found]
    if row["rows_repeated"]:
        lines.append(
            f"vendor {row['vendor']}: {row['rows_repeated']} rows repeat another one in every value, and count once"
        )
    return lines


def _times(summary: dict[str, Any]) -> list[str]:
    """How long the changes took, and how much of it the request limit makes necessary."""
    times = [status.freshness_sentence(priority) for priority in summary["freshness"]]
    if (bound := summary["bound"]) is None:
        return times
    return [
        *times,
        f"{bound['requests']:,} requests take at least {bound['bound_s']:.0f} s at the request limit; the run took {bound['took_s']:.0f} s",
    ]


def _runbooks(summary: dict[str, Any]) -> list[str]:
    return [f"runbooks: {', '.join(summary['runbooks'])}"] if summary["runbooks"] else []


def sent_line(sums: dict[str, Any]) -> str:
    """What `sums` counted, for a person."""
    where = " (`shelfsync rejections list`)" if sums["rejected"] else ""
    return (
        f"{sums['sent']:,} SKUs sent: {sums['accepted']:,} accepted, {sums['rejected']:,} rejected{where},"
        f" {sums['unaccounted']:,} unaccounted, {sums['open']:,} without an answer yet"
        + (f", {sums['not_taken']:,} in requests that the platform rejected as a whole" if sums["not_taken"] else "")
    )


def _plan_line(row: dict[str, Any]) -> str:
    return (
        f"vendor {row['vendor']}: {row['changes_new']} new, {row['changes_changed']} changed, {row['changes_removed']} removed,"
        f" {row['changes_held']} held, {row['changes_suppressed']} suppressed, {row['skus_absent']} absent, {row['rows_quarantined']} quarantined; {row['plan_batches']} requests, {row['plan_bytes']:,} bytes"
    )


def unfinished(connection: Connection, run_id: int) -> None:
    """Marks vendors that a dead task left open as failed, unless their job is open or a newer run has superseded them."""
    reached = (_ROW.snapshot_path, _ROW.delta_path, _ROW.released_path, _ROW.batched_at)
    statement = (
        sa.select(_ROW.vendor, (tables.vendor.c.fence > _ROW.generation).label("outrun"), *reached)
        .join(tables.vendor, tables.vendor.c.vendor == _ROW.vendor)
        .where(_ROW.run_id == run_id, _ROW.state == VendorState.OPEN, ~_has_batch(BatchState.PLANNED, BatchState.SENT))
    )
    for row in connection.execute(statement).all():
        if row.outrun:
            why = "a newer run has superseded this one; it sends the ERP's newest values"
            vendor_runs.write(connection, run_id, row.vendor, state=VendorState.SUPERSEDED, error=why)
            continue
        stations = zip(PREPARE, row[2:], strict=True)
        step = next((word for word, reached in stations if reached is None), "deliver")
        error = f"the step {step} did not end; see its log, then clear it"
        vendor_runs.write(connection, run_id, row.vendor, state=VendorState.FAILED, failed_step=step, error=error)


def _has_batch(*states: str) -> sa.Exists:
    """Whether the vendor's generation in the run has a batch in one of these states."""
    batch = tables.batch.c
    return sa.exists().where(
        batch.run_id == _ROW.run_id,
        batch.vendor == _ROW.vendor,
        batch.generation == _ROW.generation,
        batch.state.in_(states),
    )


def _vendors(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    columns = [_ROW[name] for name in _SHOWN]
    rows = connection.execute(sa.select(*columns).where(_ROW.run_id == run_id).order_by(_ROW.vendor)).mappings()
    return [dict(row) | {"rows_repeated": _repeated(row)} for row in rows]


def _repeated(row: RowMapping) -> int:
    """The rows that are equal to an earlier one: what normalise took in and has in neither of its two tables."""
    left = row["rows_snapshot"] + row["rows_quarantined"]
    return int(row["rows_raw"] - left) if left else 0


def sums(connection: Connection, run_id: int, *, after_job: int = 0) -> dict[str, int]:
    """`{"jobs", "sent", "accepted", "rejected", "unaccounted", "not_taken", "open"}` of the run's jobs with a number above `after_job`.

    `not_taken`: SKUs of requests that the platform rejected as a whole. `open`: those that have no outcome yet.
    """
    job = job_table.c
    with_outcome = sa.func.coalesce(job.accepted + job.rejected + job.unaccounted, 0)
    not_taken = sa.func.sum(job.sent - with_outcome).filter(job.state == State.REJECTED)
    statement = (
        sa.select(
            sa.func.count().label("jobs"),
            *(sa.cast(sa.func.coalesce(sa.func.sum(job[name]), 0), sa.BigInteger).label(name) for name in _COUNTS),
            sa.cast(sa.func.coalesce(not_taken, 0), sa.BigInteger).label("not_taken"),
        )
        .join(tables.batch, tables.batch.c.batch_id == job.batch_id)
        .where(tables.batch.c.run_id == run_id, job.state != State.SUPERSEDED, job.job_id > after_job)
    )
    found = dict(connection.execute(statement).mappings().one())
    ended = sum(found[name] for name in ("accepted", "rejected", "unaccounted", "not_taken"))
    return {**found, "open": found["sent"] - ended}


_COUNTS = ("sent", "accepted", "rejected", "unaccounted")
