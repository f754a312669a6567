"""What is wrong now: every condition that no step reports itself, found by one look at the ledger; and the watch, which keeps the alerts.

Each finder has its own net: if it fails, the others go on, and an alert says which condition cannot be looked at.
"""

from __future__ import annotations

import datetime as dt
import functools
import logging
import platform
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from shelfsync import display, metrics, outages
from shelfsync.alerts import heartbeat
from shelfsync.alerts.due import opened_at
from shelfsync.alerts.kind import KINDS, Severity
from shelfsync.alerts.ledger import alerts, outbox
from shelfsync.alerts.steps.send_due import send_due
from shelfsync.catalog.ledger import change_files, extracts, rejections, runs, source_columns, vendors
from shelfsync.catalog.ledger.tables import run
from shelfsync.catalog.state import RunState
from shelfsync.catalog.steps.status import status
from shelfsync.catalog.steps.store_without_rows import NO_ROWS
from shelfsync.catalog.store_condition import is_late
from shelfsync.catalog.warehouse import missed_changes, quarantine, record
from shelfsync.catalog.warehouse.acceptance import acceptance
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps.lists import until
from shelfsync.errors import in_one_line
from shelfsync.inbox import events, refusals
from shelfsync.platform import kill_switch, ping
from shelfsync.platform.rate_limit.scope import counted
from shelfsync.platform.rate_limit.tables import allowance
from shelfsync.promotions.ledger.tables import promotion_run
from shelfsync.store.bulk import among
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold
    from shelfsync.settings import Settings

    Found = Mapping[tuple[str, str], str | "Growing"]
    """Kind and subject -> what is wrong, as a sentence."""
    FoundOfDags = Mapping[tuple[str, str], str | "FailedDag"]

log = logging.getLogger(__name__)

ERP_AWAY_S = 60.0
"""An ERP that does not answer is away from so many seconds after the failed reading."""
STOPS = 2
"""So many stops in a row by the platform are more than a limit that was reached once."""
POLLED, WEBHOOK_SILENT_S, WEBHOOK_GONE_S = 5, 3_600.0, 7 * 86_400.0
"""The webhook is silent if so many jobs ended without it, for so long; after a week it counts as switched off."""
JUDGED_SKUS = 20
"""A share of a store's SKUs is judged from so many: those of the last results, and those of the ERP's rows."""
MISSING_EVENTS = 1
"""So many jobs that ended by polling since calls were rejected show that their events are missing."""
STILL_MANY = 0.8
"""Rows in quarantine are over below this part of the share that reports them, so that a row more or less does not open and close the alert."""
_EXPLAINS_S = 2 * 3_600.0
"""What failed during an outage is no condition of its own until so long after its end: a schedule of an hour or less has repeated it by then."""
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
"""What tells this machine from others, until it is started again."""
DAG_KINDS = ("dag_off", "dag_late", "dag_failed")
_AWAY = {outages.PLATFORM: "platform_away", outages.ERP: "erp_away", outages.PROMOTIONS: "erp_away"}


class Growing(NamedTuple):
    """What is wrong, of a condition that goes on and gets worse: each higher number is reported again."""

    line: str
    number: int


class FailedDag(NamedTuple):
    """What is wrong, of a DAG whose newest ended run failed, and what shows whether another condition reports that."""

    line: str
    run_key: str
    """The name of this run in the ledger, if its DAG has runs there."""
    began_at: dt.datetime
    ended_at: dt.datetime
    services: tuple[str, ...]
    """Those that the DAG asks."""
    kinds: tuple[str, ...]
    """The kinds of conditions for which the DAG fails."""


def watch(
    context: Context, *, find_dags: Callable[[], FoundOfDags] | None = None, off: Collection[str] = ()
) -> dict[str, Any]:
    """Opens and closes alerts by what is wrong now, sends their messages and a heartbeat: `{"opened", "closed", "sent", "refused"}`.

    It asks the platform whether it answers, if no request of a run has found that out lately.

    `find_dags` finds what is wrong with DAGs (`DAG_KINDS`), if the caller can ask Airflow. None: these alerts stay while another watch finds
    them. `off`: kinds of conditions of orders whose steps no schedule takes any more.

    ConfigurationError: a route has a wrong address. The alerts are kept all the same, and the other routes get their messages.
    """
    _ask_platform(context)
    if not context.settings.promotions.configured:
        outages.not_asked(context.engine, outages.PROMOTIONS)
    found: dict[tuple[str, str], str] = {}
    numbers: dict[tuple[str, str], int] = {}
    looked: list[str] = []
    finders = dict(_FINDERS)
    if find_dags is not None:  # the last one: it leaves out what the others have found
        finders[DAG_KINDS] = lambda _, connection: _dags(find_dags(), connection, {kind for kind, _ in found})
    for kinds, find in finders.items():
        try:
            with context.engine.connect() as connection:
                seen = find(context, connection)
            found |= {key: one.line if isinstance(one, Growing) else one for key, one in seen.items()}
            numbers |= {key: one.number for key, one in seen.items() if isinstance(one, Growing)}
            looked += kinds
        except Exception as error:  # noqa: BLE001  a condition that cannot be looked at hides no other
            log.warning("watch: %s cannot be looked at: %s", ", ".join(kinds), in_one_line(error))
            found |= {("not_watched", kind): f"{kind} cannot be looked at: {in_one_line(error)}" for kind in kinds}
    with context.engine.begin() as connection:
        of_others = {*off, *_orders_off(context.settings), *(DAG_KINDS if find_dags is None else ())}
        of_another = functools.partial(_of_another, {kind for kinds in finders for kind in kinds}, of_others)
        watched = [*looked, "not_watched", *of_others]
        kept = alerts.keep(connection, watched, found, revisions=numbers, of_another=of_another)
        alerts.looked(connection)
    report_gauges(context)
    for one in kept.opened:
        log.warning("watch: %s", one.line)
    for one in kept.closed:
        log.info("watch: over: %s %s", KINDS[one.kind].title, one.subject)
    result: dict[str, Any] = {
        "opened": [one.line for one in kept.opened],
        "closed": [one.message for one in kept.closed],
    }
    result |= send_due(context)
    with context.engine.connect() as connection:
        waits = outbox.failures(connection)
    address = context.settings.alerts.heartbeat
    refusal = None if address is None or waits or result["refused"] else heartbeat.call(address)
    if refusal is not None:
        log.warning("watch: the monitor at %s took no heartbeat: %s", heartbeat.SETTING, refusal)
        result["refused"] = {heartbeat.SETTING: refusal}
    return result


def _orders_off(settings: Settings) -> list[str]:
    """The kinds of conditions of orders that the settings rule out. If a step goes on to find one all the same, it stays."""
    orders = settings.orders
    ruled_out = {
        "not_taken": not orders.owes_orders,
        "missed": not orders.hands_over,
        "overdue": not orders.hands_over,
        "unreadable": orders.picking_sql is None,
    }
    return [kind for kind, is_off in ruled_out.items() if is_off]


def _of_another(looks_at: Collection[str], of_others: Collection[str], kind: str, subject: str) -> bool:
    """Whether another watch, or a step, has opened this, and this one cannot know whether it is over. `of_others`: kinds that it never can."""
    if kind in of_others:
        return True
    if kind == "disk":
        return not subject.endswith(_on_this_machine())
    return kind == "not_watched" and subject not in looks_at


def _on_this_machine() -> str:
    """What ends the subject of its disks: the same in every container of a machine, whatever the container is called."""
    try:
        name = BOOT_ID.read_text(encoding="ascii").strip()[:8]
    except OSError:  # no Linux
        name = platform.node()
    return f" on {name}"


def report_gauges(context: Context) -> None:
    """Reports how many alerts are open, of each kind too, and how long ago the watch looked."""
    with context.engine.connect() as connection:
        found = Counter(row["kind"] for row in alerts.open_alerts(connection, KINDS))
        look = alerts.last_look(connection)
    metrics.gauge("alerts.open", found.total())
    metrics.gauge("alerts.severe", sum(found[kind.name] for kind in KINDS.values() if kind.severity == Severity.SEVERE))
    for kind in KINDS:
        metrics.gauge(f"alerts.open.{kind}", found[kind])
    if look is not None:
        metrics.gauge("alerts.looked_ago_s", look[1])


def _ask_platform(context: Context) -> None:
    """Lets an outage of the platform be stored, or end, without any work. A failure of this question hides no condition."""
    try:
        with context.engine.connect() as connection:
            known = vendors.lately_acknowledged(connection, most=1)
        for vendor in known:
            ping.ask(context, vendor)
    except Exception as error:  # noqa: BLE001
        log.warning("watch: the platform was not asked: %s", in_one_line(error))


def _away(_: Context, connection: Connection) -> Found:
    """Services without an answer, once their outage is one that a repeat did not heal."""
    return {
        (_AWAY[row["service"]], "" if row["service"] in {outages.PLATFORM, outages.ERP} else row["service"]): (
            f"the {row['service']} does not answer since {display.instant(row['began_at'])}: {row['error']}"
        )
        for row in outages.since(connection, instant())
        if row["ended_at"] is None and _is_lasting(row)
    }


def _is_lasting(outage: Mapping[str, Any]) -> bool:
    """Of the platform, which the watch asks itself: a repeat failed too. Others are asked by their next reading alone."""
    if outage["service"] == outages.PLATFORM:
        return bool((outage["failed_at"] - outage["began_at"]).total_seconds() >= outages.SHOWN_FROM_S)
    return bool(outage["lasted_s"] >= ERP_AWAY_S)


def _not_read(context: Context, connection: Connection) -> Found:
    """No reading of the ERP for a long time, whatever the cause: a DAG that is off, a scheduler that stands, an ERP that is away."""
    last = runs.newest_reading(connection)
    minutes = context.settings.alerts.unread_minutes
    if last is None:
        return {}
    now = connection.execute(sa.select(instant())).scalar_one()
    if (now - last).total_seconds() <= minutes * 60:
        return {}
    return {
        ("not_read", ""): f"no store was read from the ERP since {display.instant(last)}. See in Airflow whether"
        " catalog_delta_sync and catalog_full_sync are on and run"
    }


def _still(context: Context, connection: Connection) -> Found:
    """No extract of any store differs from the one before, for a long time in opening hours: the ERP may be a copy that stands still."""
    settings = context.settings.alerts
    if settings.unchanged_minutes is None:
        return {}
    now = connection.execute(sa.select(instant())).scalar_one()
    opened = opened_at(settings, now, context.settings.time_zone)
    read_at, changed_at = runs.newest_reading(connection), extracts.newest_change(connection)
    if opened is None or read_at is None or changed_at is None:
        return {}
    still_s = (read_at - max(changed_at, opened)).total_seconds()
    if still_s <= settings.unchanged_minutes * 60:
        return {}
    return {
        ("erp_still", ""): f"no reading has found a change of the ERP since {display.instant(changed_at)}; the last"
        f" one was at {display.instant(read_at)}"
    }


class _Failed(NamedTuple):
    """A run that failed as a whole, the newest of its kind that has ended."""

    run_id: int
    kind: str
    error: str | None
    started_at: dt.datetime
    finished_at: dt.datetime


def _failed(connection: Connection) -> list[_Failed]:
    columns = (run.c.run_id, run.c.kind, run.c.error, run.c.started_at, run.c.finished_at)
    ended = sa.and_(run.c.finished_at.is_not(None), ~run.c.dry_run)
    newest = sa.select(*columns, run.c.state).where(ended).ext(distinct_on(run.c.kind))
    found = connection.execute(newest.order_by(run.c.kind, run.c.run_id.desc()))
    return [_Failed(*row[:-1]) for row in found if row.state == "failed"]


def _while_away(connection: Connection) -> Callable[[Collection[str], dt.datetime, dt.datetime | None], bool]:
    """Whether a service was away at any time from one instant to another. What fails then is the same condition as the outage.

    Short outages count too: those that are not yet reported, and those that were over within the last `_EXPLAINS_S`.
    """
    column = outages.outage.c
    lately = sa.or_(column.ended_at.is_(None), column.ended_at > after(-_EXPLAINS_S))
    found = list(connection.execute(sa.select(column.service, column.began_at, column.ended_at).where(lately)))

    def away(services: Collection[str], begun: dt.datetime, ended: dt.datetime | None) -> bool:
        return any(
            one.service in services
            and (ended is None or one.began_at <= ended)
            and (one.ended_at is None or one.ended_at >= begun)
            for one in found
        )

    return away


def _runs(context: Context, connection: Connection) -> Found:
    """Kinds of runs whose newest ended one failed as a whole, unless a service was away meanwhile: that is a condition itself.

    Of campaigns a part is enough: a store that cannot be read has no condition of its own.
    """
    away = _while_away(connection)
    found = {
        ("run_failed", one.kind): f"run {one.run_id} ({one.kind}) failed: {one.error or 'see `shelfsync runs show`'}"
        for one in _failed(connection)
        if not away((outages.PLATFORM, outages.ERP), one.started_at, one.finished_at)
    }
    over = sa.and_(promotion_run.c.finished_at.is_not(None), ~promotion_run.c.dry_run)
    newest = sa.select(promotion_run).where(over).order_by(promotion_run.c.run_id.desc()).limit(1)
    for row in connection.execute(newest) if context.settings.promotions.configured else ():
        if row.state in {"failed", "partly_failed"} and not away(
            (outages.PLATFORM, outages.PROMOTIONS), row.started_at, row.finished_at
        ):
            how = "failed" if row.state == "failed" else "failed in part"
            found["campaigns_failed", ""] = (
                f"promotion run {row.run_id} {how}: {row.error or 'see `shelfsync promotions status`'}"
            )
    return found


def _stores(context: Context, connection: Connection) -> Found:
    """Stores whose changes wait too long, whose last run failed, with SKUs of unknown outcome, or with too many rows in quarantine.

    A store that the settings leave out is none of them.

    A store's run is no condition of its own if the whole run failed, or if the service was away that its step needs.
    """
    found: dict[tuple[str, str], str] = {}
    away, failed = _while_away(connection), {one.run_id for one in _failed(connection)}
    wanted = context.settings.sync.vendors
    rows = [row for row in status(context, runs=0)["vendors"] if not wanted or row["vendor"] in wanted]
    of_failed = among(run.c.run_id, {row["last_run"] for row in rows if row["last_state"] == "failed"})
    columns = (run.c.run_id, run.c.started_at, run.c.finished_at)
    times = {row.run_id: row for row in connection.execute(sa.select(*columns).where(of_failed))}
    late_s = context.settings.alerts.late_minutes * 60
    crowded = {one["subject"] for one in alerts.open_alerts(connection, ("rows_quarantined",))}
    for row in rows:
        vendor, oldest = row["vendor"], row["oldest_unacknowledged_s"]
        if is_late(row, late_s=late_s):
            found["store_late", vendor] = (
                f"{vendor}: the oldest change of the ERP waits for {oldest / 60:.0f} minutes"
                f" ({row['pending'] or 0:,} pending, {row['in_flight'] or 0:,} on their way)"
            )
        if row["last_state"] == "failed" and row["last_run"] not in failed and not _explained(row, times, away):
            found["store_failed", vendor] = (
                f"{vendor}: run {row['last_run']} failed in {row['failed_step']}: {row['error']}"
            )
        total, quarantined = row["erp_rows"] or 0, row["quarantined"] or 0
        if row["failed_step"] == "normalise" or (row["error"] or "").startswith(NO_ROWS):
            total = 0  # every row is faulty, or none is left: store_failed reports it
        share = context.settings.alerts.quarantined_share * (STILL_MANY if vendor in crowded else 1)
        if total >= JUDGED_SKUS and quarantined > share * total:  # headings and sums of a list for people are no rows
            no_rows = sum(group["rows"] for group in quarantine.groups(connection, vendor=vendor, reason="no_row"))
            total, quarantined = total - no_rows, quarantined - no_rows
        if total >= JUDGED_SKUS and quarantined > share * total:
            found["rows_quarantined", vendor] = (
                f"{vendor}: {quarantined:,} of the ERP's {total:,} rows cannot be sent. `shelfsync quarantine --vendor {vendor}`"
            )
        if row["unconfirmed"]:
            found["unaccounted", vendor] = (
                f"{vendor}: the platform did not report what became of {row['unconfirmed']:,} SKUs"
            )
    return found


def _explained(row: Mapping[str, Any], times: Mapping[int, Any], away: Callable[..., bool]) -> bool:
    begun = times.get(row["last_run"])
    service = outages.ERP if row["failed_step"] == "extract" else outages.PLATFORM
    return begun is not None and away((service,), begun.started_at, begun.finished_at)


def _holds(context: Context, connection: Connection) -> Found:
    """Undecided holds, one condition a subject and rule, and another one for those that expire soon or have expired: their rows stay held.

    A further hold is reported again, unless it only took the place of one that was open.
    """
    now = connection.execute(sa.select(instant())).scalar_one()
    soon = now + dt.timedelta(hours=context.settings.alerts.expires_hours)
    waiting: dict[str, list[Hold]] = defaultdict(list)
    ending: dict[str, list[Hold]] = defaultdict(list)
    for one in holds.in_force(connection):
        is_asked = one.subject != Subject.PROMOTIONS or context.settings.promotions.configured
        if one.state == HoldState.DECLINED or not is_asked:
            continue
        rule = f"{one.subject} {one.rule}"
        waiting[rule].append(one)
        if one.state == HoldState.EXPIRED or one.expires_at < soon:
            ending[rule].append(one)
    known = holds.in_place_of_open(connection) if waiting else set()
    found = {("hold_expires", rule): _holds_of(rule, those, now) for rule, those in ending.items()}
    return found | {("hold_waits", rule): _holds_of(rule, those, now, known) for rule, those in waiting.items()}


def _holds_of(rule: str, those: Sequence[Hold], now: dt.datetime, known: Collection[int] = ()) -> Growing:
    """What waits, and what has expired. `known`: holds that are no news."""
    still_open = [one for one in those if one.state == HoldState.OPEN]
    expired = [one for one in those if one.state == HoldState.EXPIRED]
    parts = []
    if still_open:
        first = min(still_open, key=lambda one: one.expires_at)
        ends = until(first, (first.expires_at - now).total_seconds())
        parts.append(f"{_changes(still_open)} wait for a decision, {ends}. `shelfsync holds show {first.hold_id}`")
    if expired:
        last = max(expired, key=lambda one: one.expires_at)
        parts.append(
            f"{_changes(expired)} have expired without a decision, the last at {display.minute(last.expires_at)}, and stay held. A person may"
            f" decline them, or reopen and approve them: `shelfsync holds show {last.hold_id}`"
        )
    number = max((one.hold_id for one in those if one.hold_id not in known), default=0)
    return Growing(f"{rule}: {'. Besides, '.join(parts)}, or the page of holds", number)


def _changes(those: Sequence[Hold]) -> str:
    return f"{sum(one.rows for one in those):,} changes of {len({one.vendor for one in those}):,} stores"


def _dags(seen: FoundOfDags, connection: Connection, found: Collection[str]) -> Found:
    """What is wrong with DAGs, without the failures that other conditions report. `found`: the kinds of conditions that there are now."""
    away = _while_away(connection)
    return {
        key: one.line if isinstance(one, FailedDag) else one
        for key, one in seen.items()
        if not isinstance(one, FailedDag) or not _is_reported(one, connection, found, away)
    }


def _is_reported(one: FailedDag, connection: Connection, found: Collection[str], away: Callable[..., bool]) -> bool:
    """A service was away, the ledger has the run as failed, or a condition for which the DAG fails was open since it began."""
    if away(one.services, one.began_at, one.ended_at) or not {*one.kinds}.isdisjoint(found):
        return True
    for table in (run, promotion_run):
        ended = sa.select(table.c.state).where(table.c.run_key == one.run_key, table.c.finished_at.is_not(None))
        if connection.execute(ended).scalar_one_or_none() not in {None, RunState.SUCCEEDED}:
            return True
    return alerts.any_open_since(connection, one.kinds, one.began_at)


def _paused(_: Context, connection: Connection) -> Found:
    return {("paused", "" if stop.scope == "all" else stop.what): str(stop) for stop in kill_switch.stops(connection)}


def _rows(context: Context, connection: Connection) -> Found:
    """What the last readings could not use, and what the changes missed. Of an ERP without changes in the settings these are no condition."""
    erp, missed = context.settings.erp, list[str]()
    if erp.changes_sql or erp.changes_sql_file or erp.changes_files:
        missed += missed_changes.of_last_full(connection)
    if erp.changes_files:
        missed += change_files.lines(connection)
    lines = {
        "unusable_rows": quarantine.unusable_lines(quarantine.unusable_of_last(connection)),
        "changes_missed": missed,
        "job_events": events.quarantined_jobs(connection),
    }
    return {(kind, ""): ". ".join(_bare(line) for line in found) for kind, found in lines.items() if found}


def _bare(line: str) -> str:
    """The line of an alarm without its runbook, which the kind has."""
    return line.partition(". Runbook: ")[0]


def _columns(_: Context, connection: Connection) -> Found:
    """Sources that had other columns than before, for a day; each further change is reported."""
    lines = source_columns.lines(connection)
    return {("columns_changed", ""): Growing(" ".join(lines), source_columns.newest(connection))} if lines else {}


def _rejected(_: Context, connection: Connection) -> Found:
    """Products that the platform rejects for good, and those whose value it does not keep; each new one is reported."""
    found = {}
    for drifted, those in rejections.for_good(connection).items():
        line = (
            f"the platform shows other values than it accepted for {those.skus:,} SKUs, again and again"
            if drifted
            else f"the platform rejects {those.skus:,} SKUs, {those.of_reason:,} of them with: {those.reason}. `shelfsync rejections list`"
        )
        found["drift_returns" if drifted else "rejected", ""] = Growing(line, those.newest_job)
    return found


def _limited(context: Context, _: Connection) -> Found:
    """The platform stops shelfsync again and again, without a good answer between."""
    lately = sa.and_(allowance.c.key == counted(context.settings).scope, allowance.c.paused_until > after(-3600))
    with context.limits.connect() as limits:
        row = limits.execute(sa.select(allowance).where(allowance.c.strikes >= STOPS, lately)).one_or_none()
    if row is None:
        return {}
    return {
        ("rate_limited", ""): f"the platform stopped shelfsync {row.strikes} times in a row, now until"
        f" {display.instant(row.paused_until)}: {row.pause_reason}"
    }


def _webhook(_: Context, connection: Connection) -> Found:
    """Events of jobs came before; since the last one, jobs end by polling alone. The next event ends it."""
    last = events.newest_of_a_job(connection)
    if last is None:
        return {}
    now = connection.execute(sa.select(instant())).scalar_one()
    if not WEBHOOK_SILENT_S < (now - last).total_seconds() < WEBHOOK_GONE_S:
        return {}
    if record.polled_since(connection, last, most=POLLED) < POLLED:
        return {}
    return {
        ("no_webhook", ""): f"the webhook's last event came at {display.instant(last)}, and at least {POLLED} jobs have"
        " ended by polling since"
    }


def _refused(_: Context, connection: Connection) -> Found:
    """Calls to the receiver with a wrong secret, for minutes. The platform's next event, or an hour without such a call, ends it.

    A stranger's calls are no news of the platform's secret: those to its endpoint count once a job has ended whose event did not come.
    """
    whose = {refusals.INBOX: "events", refusals.PICKING: "picking results"}
    found = refusals.lately(connection)
    events_of = found.get(refusals.INBOX)
    if events_of and record.polled_since(connection, events_of.began_at, most=MISSING_EVENTS) < MISSING_EVENTS:
        del found[refusals.INBOX]
    return {
        ("secret_refused", whose[endpoint]): f"the receiver rejected {one.calls:,} calls with {whose[endpoint]} since"
        f" {display.instant(one.began_at)}, because their secret is wrong; the last came at {display.instant(one.last_at)}"
        for endpoint, one in found.items()
    }


def _accepted(context: Context, connection: Connection) -> Found:
    """Stores of whose last results, of at least `JUDGED_SKUS`, too few SKUs were accepted."""
    share = context.settings.alerts.accepted_share
    return {
        (
            "few_accepted",
            one.vendor,
        ): f"{one.vendor}: the platform accepted {one.accepted:,} of the last {one.reported:,}"
        f" SKUs sent. `shelfsync rejections list --vendor {one.vendor}`"
        for one in acceptance(connection, skus=JUDGED_SKUS, hours=24)
        if one.accepted < share * one.reported
    }


def _disk(context: Context, _: Connection) -> Found:
    """Disks of this machine that are nearly full, and of no other: the state folder's, and the lake's if it is a folder on another one."""
    found: dict[tuple[str, str], str] = {}
    places = [context.settings.home, *([Path(context.settings.lake)] if "://" not in context.settings.lake else [])]
    disks: set[int] = set()
    for place in places:
        try:
            disk, usage = place.stat().st_dev, shutil.disk_usage(place)
        except OSError:  # it is made by the first run
            continue
        if disk in disks:
            continue
        disks.add(disk)
        if usage.free < context.settings.alerts.disk_free_share * usage.total:
            found["disk", f"{place}{_on_this_machine()}"] = (
                f"the disk of {place} at {platform.node()} has {usage.free / 2**30:.1f} GiB of {usage.total / 2**30:.0f} GiB free"
            )
    return found


_FINDERS: dict[tuple[str, ...], Callable[[Context, Connection], Found]] = {
    ("platform_away", "erp_away"): _away,
    ("not_read",): _not_read,
    ("erp_still",): _still,
    ("run_failed", "campaigns_failed"): _runs,
    ("store_late", "store_failed", "unaccounted", "rows_quarantined"): _stores,
    ("hold_waits", "hold_expires"): _holds,
    ("paused",): _paused,
    ("unusable_rows", "changes_missed", "job_events"): _rows,
    ("columns_changed",): _columns,
    ("rejected", "drift_returns"): _rejected,
    ("rate_limited",): _limited,
    ("no_webhook",): _webhook,
    ("secret_refused",): _refused,
    ("few_accepted",): _accepted,
    ("disk",): _disk,
}
"""The kinds that each finder looks for. What no finder has is opened and closed by a step: of orders, and of the messages themselves."""
