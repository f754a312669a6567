"""Alerts for people: which there are, one with its messages, taking one on, muting, and trying a route."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.alerts import channel
from shelfsync.alerts.kind import KINDS, Severity
from shelfsync.alerts.ledger import alerts, mutes
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.store.keyset_list import KeysetList, Order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.context import Context
    from shelfsync.settings import AlertRoute


STALE_S = 600.0
"""The watch looks once a minute; after so long a list without an alert means nothing."""


OVER = KeysetList(
    "(SELECT * FROM ledger.alert WHERE closed_at IS NOT NULL) AS over",
    ("alert_id", "kind", "subject", "message", "opened_at", "closed_at", "acknowledged_by", "acknowledged_at"),
    {"kind": "kind = :kind", "subject": "subject = :subject"},
    {
        "newest": Order((("alert_id", "bigint"),), newest_first=True),
        "oldest": Order((("alert_id", "bigint"),)),
    },
)
"""The alerts that are over."""


def listed(context: Context, *, closed: bool = False) -> list[dict[str, Any]]:
    """The open alerts, the most severe first; `closed`: the last 200 of any state, newest first. Each has its `severity`."""
    with context.engine.connect() as connection:
        rows = alerts.newest(connection) if closed else alerts.open_alerts(connection)
    found = [{**row, "severity": KINDS[row["kind"]].severity} for row in rows if row["kind"] in KINDS]
    return found if closed else sorted(found, key=lambda row: (row["severity"].rank, row["alert_id"]))


def look(context: Context) -> dict[str, Any]:
    """`{"looked_at", "stale", "line"}`: when the watch looked last. `stale`: the list may be that of another time."""
    with context.engine.connect() as connection:
        last = alerts.last_look(connection)
    cure = "Switch the DAG alerts_watch on (or run `shelfsync alerts watch` once a minute)"
    if last is None:
        return {"looked_at": None, "stale": True, "line": f"no watch has looked at what is wrong yet. {cure}"}
    at, ago_s = last
    line = f"the watch looked last at {display.instant(at)}"
    stale = ago_s > STALE_S
    return {
        "looked_at": at,
        "stale": stale,
        "line": f"{line}, and what is wrong since is not known. {cure}" if stale else line,
    }


def severe(context: Context) -> list[str]:
    """What every page shows above itself: the severe alerts that are open and that no person has taken on, a line for each kind."""
    with context.engine.connect() as connection:
        rows = alerts.open_alerts(
            connection, [kind.name for kind in KINDS.values() if kind.severity == Severity.SEVERE]
        )
    waiting = Counter(row["kind"] for row in rows if row["acknowledged_at"] is None)
    return [KINDS[kind].title + (f", {number} times" if number > 1 else "") for kind, number in sorted(waiting.items())]


def shown(context: Context, alert_id: int) -> dict[str, Any]:
    """One alert with its `messages`, what its kind means, and a line of each mute that keeps them back. DataError: there is none."""
    with context.engine.connect() as connection:
        row = alerts.read(connection, alert_id)
    if row is None:
        raise _unknown(alert_id)
    kind = KINDS[row["kind"]]
    about = {"severity": kind.severity, "customers": kind.customers, "by_itself": kind.by_itself, "runbook": kind.page}
    mutes = [
        one["line"] for one in muted(context) if one["kind"] == row["kind"] and one["subject"] in {None, row["subject"]}
    ]
    return {**row, **about, "muted": mutes}


def acknowledge(context: Context, numbers: Iterable[int], *, who: str) -> list[dict[str, Any]]:
    """A person takes on open alerts: `{"alert_id", "acknowledged", "line"}` each. DataError, and none is taken on: one is not there."""
    wanted = list(dict.fromkeys(numbers))
    with context.engine.begin() as connection:
        found = alerts.acknowledge(connection, wanted, who=who)
        for number in wanted:
            if number not in found:
                raise _unknown(number)
    return [
        {"alert_id": number, "acknowledged": found[number][0], "line": _acknowledged(*found[number], who)}
        for number in wanted
    ]


def _acknowledged(done: bool, row: dict[str, Any], who: str) -> str:
    number = row["alert_id"]
    if done:
        return f"alert {number} is yours, {who}: {row['message']}"
    if row["acknowledged_by"] is not None:
        at = display.instant(row["acknowledged_at"])
        return f"alert {number} was acknowledged by {row['acknowledged_by']} at {at}; nothing was done"
    return f"alert {number} was over at {display.instant(row['closed_at'])}; nothing was done"


def _unknown(number: int) -> DataError:
    return DataError(f"alerts: there is no alert {number}; `shelfsync alerts list --closed` shows the last ones")


def mute(context: Context, kind: str, subject: str | None, *, hours: float, who: str, why: str) -> str:
    """No message of a kind, about one subject or any, for so many hours; 0 ends it. Returns a line. DataError: no such kind."""
    if kind not in KINDS:
        raise DataError(f"alerts: there is no kind {kind!r}; the kinds are {', '.join(KINDS)}")
    with context.engine.begin() as connection:
        mutes.mute(connection, kind, subject, who=who, why=why, hours=hours)
    lines = [row["line"] for row in muted(context) if (row["kind"], row["subject"]) == (kind, subject)]
    return lines[0] if lines else f"{_muted_what(kind, subject)} is not muted"


def muted(context: Context) -> list[dict[str, Any]]:
    """What is muted now: the columns of `ledger.alert_mute`, and `line`, one sentence with its end, the person and the reason."""
    with context.engine.connect() as connection:
        rows = mutes.mutes(connection)
    return [
        {
            **row,
            "line": f"{_muted_what(row['kind'], row['subject'])} is muted until {display.instant(row['until_at'])}"
            f" by {row['who']}: {row['why']}",
        }
        for row in rows
    ]


def _muted_what(kind: str, subject: str | None) -> str:
    return kind if subject is None else f"{kind} of {subject}"


def try_routes(context: Context, name: str | None = None) -> list[dict[str, Any]]:
    """Sends a test message to each route, or to one: `{"route", "error"}` each. DataError: there is none."""
    routes = [route for route in context.settings.alerts.routes if name in {None, route.name}]
    if not routes:
        what = "no route is set" if name is None else f"there is no route {name!r}"
        raise DataError(f"alerts: {what}; SHELFSYNC_ALERTS__ROUTES names the routes (docs/how-to/alarms.md)")
    text = "This is a test. If you read it, alerts of shelfsync reach you here."
    return [{"route": route.name, "error": _tried(route, text)} for route in routes]


def _tried(route: AlertRoute, text: str) -> str | None:
    try:
        return channel.send(route.name, route.address.get_secret_value(), "shelfsync: test of a route", text)
    except ConfigurationError as error:
        return str(error)
