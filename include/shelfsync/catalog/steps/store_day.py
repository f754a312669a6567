"""store_day: what happened at one store on one day, in order. Readings, jobs, holds, pauses, restorations, exports with their drift, outages."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display, outages
from shelfsync.decisions.rule_name import rule_name
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

MOST = 300
"""Events of one kind; a day with more shows the last ones."""

_READINGS = """
SELECT run.started_at AS at, run.run_id, run.kind, vr.state, vr.error, vr.rows_raw, vr.rows_quarantined,
    vr.changes_new + vr.changes_changed + vr.changes_removed AS changed, vr.changes_held AS held
FROM warehouse.sync_run AS run JOIN ledger.vendor_run AS vr ON vr.run_id = run.run_id AND vr.vendor = :vendor
WHERE run.started_at >= :start AND run.started_at < :end AND NOT run.dry_run ORDER BY run.started_at DESC LIMIT :most
"""
_JOBS = """
SELECT sent_at AS at, job_id, run_id, state, error, sent, accepted, rejected, unaccounted, ended_at
FROM warehouse.catalog_job WHERE vendor = :vendor AND sent_at >= :start AND sent_at < :end ORDER BY sent_at DESC LIMIT :most
"""
_HOLDS = """
SELECT held_at AS at, hold_id, rule, rows, state, decided_by, decided_at FROM ledger.hold
WHERE vendor = :vendor AND held_at >= :start AND held_at < :end ORDER BY hold_id DESC LIMIT :most
"""
_PAUSES = """
SELECT turned_at AS at, scope, stopped, why, who FROM ledger.switch
WHERE (scope = 'all' OR scope = 'chain' AND name = :chain OR scope = 'vendor' AND name = :vendor) AND turned_at >= :start AND turned_at < :end
ORDER BY switch_id DESC LIMIT :most
"""
_RESTORATIONS = """
SELECT begun_at AS at, who, why, state_at, until_at, cardinality(skus) AS skus FROM ledger.restoration
WHERE vendor = :vendor AND begun_at >= :start AND begun_at < :end ORDER BY restoration_id DESC LIMIT :most
"""
_EXPORTS = """
SELECT seen.observed_at AS at, seen.observation_id, seen.how, seen.rows, (
    SELECT count(*) FROM warehouse.drift WHERE drift.observation_id = seen.observation_id) AS differing
FROM warehouse.observation AS seen
WHERE seen.vendor = :vendor AND seen.observed_at >= :start AND seen.observed_at < :end ORDER BY seen.observed_at DESC LIMIT :most
"""


@dataclass(frozen=True)
class Happening:
    """One event. `links`: what it counts, with the number of the row that has the rows: (count, word, kind, number)."""

    at: dt.datetime
    kind: str
    text: str
    tone: str = ""
    links: tuple[tuple[int, str, str, int], ...] = ()


def store_day(context: Context, vendor: str, day: dt.date | None = None) -> dict[str, Any]:
    """`{"vendor", "day", "start", "end", "is_over", "events"}`, the newest event first; the day is one of the chain's zone, None: today.

    DataError: shelfsync does not know the vendor.
    """
    zone = display.current().zone
    with context.engine.connect() as connection:
        known = sa.text("SELECT ledger.instant() FROM ledger.vendor WHERE vendor = :vendor")
        now = connection.execute(known, {"vendor": vendor}).scalar_one_or_none()
        if now is None:
            raise DataError(f"store: shelfsync knows no store {vendor!r}. The first page lists them")
        day = day or display.local(now).date()
        start = dt.datetime.combine(day, dt.time(), zone)
        end = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), zone)
        asked = {"vendor": vendor, "start": start, "end": end, "most": MOST, "chain": context.settings.platform.chain}
        found = [*_events(connection, asked), *_outages(connection, start, end)]
    events = sorted(found, key=lambda one: one.at, reverse=True)
    return {"vendor": vendor, "day": day, "start": start, "end": end, "is_over": end <= now, "events": events}


def _events(connection: Connection, asked: dict[str, Any]) -> Iterator[Happening]:
    for statement, made in (
        (_READINGS, _reading),
        (_JOBS, _job),
        (_HOLDS, _hold),
        (_PAUSES, _pause),
        (_RESTORATIONS, _restoration),
        (_EXPORTS, _export),
    ):
        for row in connection.execute(sa.text(statement), asked).mappings():
            yield made(dict(row))


def _reading(row: dict[str, Any]) -> Happening:
    run = row["run_id"]
    counts = (
        (row["rows_raw"], "read", "extracted"),
        (row["rows_quarantined"], "quarantined", "quarantine"),
        (row["changed"], "changed", "changed"),
        (row["held"], "held", "held"),
    )
    links = tuple((count, word, kind, run) for count, word, kind in counts if count)
    text = f"{row['kind']} run {run}: {row['state']}" + (f": {row['error']}" if row["error"] else "")
    return Happening(row["at"], "reading", text, "bad" if row["state"] == "failed" else "", links)


def _job(row: dict[str, Any]) -> Happening:
    counts = [(row[name], name) for name in ("sent", "accepted", "rejected", "unaccounted")]
    links = tuple((count, name, name, row["run_id"]) for count, name in counts if count)
    text = f"job {row['job_id']} of run {row['run_id']}: {row['state']}"
    if row["ended_at"] is not None:
        text += f" after {(row['ended_at'] - row['at']).total_seconds():.0f} s"
    tone = "bad" if row["error"] or row["unaccounted"] else ""
    return Happening(row["at"], "job", text + (f": {row['error']}" if row["error"] else ""), tone, links)


def _hold(row: dict[str, Any]) -> Happening:
    text = f"rule {rule_name(row['rule'])} holds changes: {row['state']}"
    if row["decided_at"] is not None:
        by = f" by {row['decided_by']}" if row["decided_by"] else ""  # a newer reading supersedes it without a person
        text += f"{by} at {display.minute(row['decided_at'])}"
    return Happening(row["at"], "hold", text, "note", ((row["rows"], "held rows", "hold", row["hold_id"]),))


def _pause(row: dict[str, Any]) -> Happening:
    what = {"all": "everything", "chain": "the chain", "vendor": "this store"}[row["scope"]]
    act = "paused" if row["stopped"] else "resumed"
    return Happening(row["at"], "pause", f"{row['who']} {act} {what}: {row['why']}", "note" if row["stopped"] else "")


def _restoration(row: dict[str, Any]) -> Happening:
    what = "the whole assortment" if row["skus"] is None else f"{row['skus']:,} SKUs"
    text = f"{row['who']} restored {what} as of {display.minute(row['state_at'])}, until {display.minute(row['until_at'])}: {row['why']}"
    return Happening(row["at"], "restoration", text, "note")


def _export(row: dict[str, Any]) -> Happening:
    links = ((row["differing"], "values differ", "drift", row["observation_id"]),) if row["differing"] else ()
    text = f"the {row['how']} shows {row['rows']:,} products"
    return Happening(row["at"], "export", text, "note" if row["differing"] else "", links)


def _outages(connection: Connection, start: dt.datetime, end: dt.datetime) -> Iterator[Happening]:
    found = outages.since(connection, start, end)
    for row, line in zip(found, outages.lines(found), strict=True):
        yield Happening(max(row["began_at"], start), "outage", line, "bad")
