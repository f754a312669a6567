"""A run's beginning and end: opened by its key, closed with what became of every vendor."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.flow import counts, standing, urgent
from shelfsync.flow.plan import lines as plan_lines
from shelfsync.flow.plan import plan_of
from shelfsync.inbox import events
from shelfsync.ledger import freshness, runs, switches, tables, vendor_runs
from shelfsync.warehouse import record, set_aside

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

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
    "changes_new",
    "changes_changed",
    "changes_removed",
    "changes_same",
    "changes_held",
    "changes_spared",
    "plan_batches",
    "plan_bytes",
)


def open_run(
    parts: Parts, *, kind: str, key: str, vendors: tuple[str, ...], skus: tuple[str, ...] = (), dry_run: bool
) -> int:
    """The number of the run of this key; a run that is opened again goes on where it was.

    `skus`: an urgent run, which sends of the named vendors these SKUs alone.
    """
    urgent.check(kind, vendors, skus)
    with parts.engine.begin() as connection:
        run_id = runs.open_run(connection, key=key, kind=kind, vendors=vendors, skus=skus, dry_run=dry_run)
        record.record_run(connection, run_id)
    log.info("run %d (%s%s) is open: %s", run_id, kind, ", dry" if dry_run else "", key)
    return run_id


def report(parts: Parts, run_id: int) -> dict[str, Any]:
    """Closes the run and tells of it: `{"run", "kind", "state", "vendors": [...], "sent", "accepted", ..., "lines": [...]}`.

    `lines` are for people: one for each vendor that failed, and the sums.
    """
    with parts.engine.begin() as connection:
        run = runs.read_run(connection, run_id)
        unfinished(connection, run_id)
        shown = _vendors(connection, run_id)
        state, error = _ending(shown, _waiting(connection, run_id))
        passed_over = vendor_runs.passed_over(connection, run_id)
        lost_events = events.jobs_set_aside(connection, run_id=run_id)
        aside, new_aside = set_aside.of_run(connection, run_id), set_aside.news(connection, run_id)
        runs.close_run(connection, run_id, state=state, error=error)
        record.record_run(connection, run_id)
        sums = _sums(connection, run_id)
        fresh = freshness.of_run(connection, run_id)
        became = urgent.lines(connection, run)
        asked, told_of = record.asked_instead(connection, run_id)
        paused = [str(stop) for stop in switches.stops(connection)]
    now = None if run.dry_run else counts.together(parts, [row["vendor"] for row in shown])
    standing.tell(parts)
    told = {"run": run_id, "key": run.run_key, "kind": run.kind, "dry_run": run.dry_run, "state": state, "error": error}
    sums |= {"asked": asked, "told": told_of}
    summary = {**told, **sums, "paused": paused, "freshness": fresh, "urgent": became, "vendors": shown, "counts": now}
    summary["set_aside"] = aside
    alarms = [
        f"vendor {vendor} was passed over by two runs in a row, so its changes wait: {why}"
        for vendor, why in passed_over.items()
    ]
    summary["alarms"] = alarms + lost_events + set_aside.lines(new_aside)
    if not run.dry_run:
        return {**summary, "lines": lines(summary)}
    plan = plan_of(parts, run_id)
    return {**summary, "plan": plan, "lines": [*lines(summary), *plan_lines(plan)]}


def _ending(shown: list[dict[str, Any]], waiting: set[str]) -> tuple[str, str | None]:
    """The state of a run whose vendors ended like this, and its first line for a person where it is no plain success (I15).

    `waiting`: vendors whose changes this run leaves to the next one.
    """
    if not shown:
        return "failed", "no vendor was extracted; see the log of the step extract"
    if failed := [row for row in shown if row["state"] == "failed"]:
        return "failed" if len(failed) == len(shown) else "partly_failed", _first(shown, failed, "failed")
    if over := [row for row in shown if row["state"] == "busy" or row["vendor"] in waiting]:
        return "partly", _first(shown, over, "were passed over")
    return "succeeded", None


def _first(shown: list[dict[str, Any]], found: list[dict[str, Any]], word: str) -> str:
    why = found[0]["error"] or "its requests are planned and were not sent; the next run sends them"
    return f"{len(found)} of {len(shown)} vendors {word}: {found[0]['vendor']}: {why}"


def _waiting(connection: Connection, run_id: int) -> set[str]:
    """Vendors whose changes no run has sent: superseded by no newer run (an export moved the baseline, a pause), or planned alone."""
    statement = (
        sa.select(_ROW.vendor)
        .join(tables.vendor, tables.vendor.c.vendor == _ROW.vendor)
        .where(_ROW.run_id == run_id, tables.vendor.c.fence <= _ROW.generation)
        .where((_ROW.state == "superseded") | ((_ROW.state == "open") & _has_batch("planned")))
    )
    return set(connection.execute(statement).scalars())


def lines(summary: dict[str, Any]) -> list[str]:
    """The summary in sentences: what was done, then one line a vendor that needs somebody."""
    rows = summary["vendors"]
    changed = sum(row["changes_new"] + row["changes_changed"] + row["changes_removed"] for row in rows)
    batches = sum(row["plan_batches"] for row in rows)
    planned = f" in {batches} request bodies, {sum(row['plan_bytes'] for row in rows):,} bytes"
    first = (
        f"run {summary['run']} ({summary['kind']}{', dry' if summary['dry_run'] else ''}): {summary['state']},"
        f" {len(rows)} vendors, {changed:,} SKUs changed{planned if batches else ''}"
    )
    said = [*(f"PAUSED: {stop}" for stop in summary["paused"]), first, *summary["alarms"]]
    said += [line for line in set_aside.lines(summary["set_aside"]) if line not in said]
    spared = sum(row["changes_spared"] for row in rows)
    if spared:
        said.append(
            f"{spared:,} changed quantities were spared: they change nothing for a customer and wait for the full sync"
        )
    if not summary["dry_run"]:
        said.append(
            f"{summary['sent']:,} SKUs sent: {summary['accepted']:,} accepted, {summary['refused']:,} refused,"
            f" {summary['unaccounted']:,} unaccounted, {summary['open']:,} without an answer yet"
        )
    said += counts.lines(summary["counts"])
    said += [freshness.sentence(lane) for lane in summary["freshness"]]
    said += summary["urgent"]
    if summary["asked"]:
        said.append(
            f"{summary['asked']} of {summary['told']} jobs ended without a webhook and were asked about, which costs time and requests:"
            " is its address right? (warehouse.confirmation)"
        )
    for row in rows:
        if summary["dry_run"] and row["state"] != "failed":
            said.append(_plan_line(row))
        if row["state"] == "failed":
            said.append(f"vendor {row['vendor']} failed at {row['failed_step']}: {row['error']}")
        elif row["state"] in {"busy", "superseded"}:
            said.append(
                f"vendor {row['vendor']} is {row['state']}: {row['error'] or 'its last job is still open; the next run goes on'}"
            )
        if row["changes_held"]:
            said.append(
                f"vendor {row['vendor']}: {row['changes_held']} changes are held by a guard (`shelfsync holds list`)"
            )
        if row["rows_quarantined"]:
            said.append(
                f"vendor {row['vendor']}: {row['rows_quarantined']} rows are quarantined (warehouse.quarantine)"
            )
    return said


def _plan_line(row: dict[str, Any]) -> str:
    return (
        f"vendor {row['vendor']}: {row['changes_new']} new, {row['changes_changed']} changed, {row['changes_removed']} removed,"
        f" {row['changes_held']} held, {row['changes_spared']} spared, {row['rows_quarantined']} quarantined; {row['plan_batches']} requests, {row['plan_bytes']:,} bytes"
    )


def unfinished(connection: Connection, run_id: int) -> None:
    """Vendors that a broken task left behind are failures that say so, unless their job is on its way or a newer run went past them."""
    reached = (_ROW.snapshot_path, _ROW.delta_path, _ROW.released_path, _ROW.batched_at)
    statement = (
        sa.select(_ROW.vendor, (tables.vendor.c.fence > _ROW.generation).label("outrun"), *reached)
        .join(tables.vendor, tables.vendor.c.vendor == _ROW.vendor)
        .where(_ROW.run_id == run_id, _ROW.state == "open", ~_has_batch("planned", "sent"))
    )
    for row in connection.execute(statement).all():
        if row.outrun:
            why = "a newer run has gone past this one; it sends what is wanted now"
            vendor_runs.write(connection, run_id, row.vendor, state="superseded", error=why)
            continue
        stations = zip(("normalise", "diff", "guard", "batch"), row[2:], strict=True)
        step = next((word for word, reached in stations if reached is None), "deliver")
        error = f"the step {step} did not end; see its log, then clear it"
        vendor_runs.write(connection, run_id, row.vendor, state="failed", failed_step=step, error=error)


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
    return [dict(row) for row in rows]


def _sums(connection: Connection, run_id: int) -> dict[str, int]:
    job = tables.job.c
    statement = (
        sa.select(
            sa.func.count().label("jobs"),
            *(sa.cast(sa.func.coalesce(sa.func.sum(job[name]), 0), sa.BigInteger).label(name) for name in _COUNTS),
        )
        .join(tables.batch, tables.batch.c.batch_id == job.batch_id)
        .where(tables.batch.c.run_id == run_id, job.state != "superseded")
    )
    sums = dict(connection.execute(statement).mappings().one())
    return {**sums, "open": sums["sent"] - sums["accepted"] - sums["refused"] - sums["unaccounted"]}


_COUNTS = ("sent", "accepted", "refused", "unaccounted")
