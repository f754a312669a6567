"""`alerts`: what is wrong now, who has taken it on, and where messages about it go."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any

import typer

from shelfsync import display
from shelfsync.cli.acting_user import user_or
from shelfsync.cli.command import Answer, Reason, User, command, opened, subgroup
from shelfsync.cli.times import read_duration
from shelfsync.errors import DataError, PartlyFailedError

app = subgroup("What is wrong now, and the messages about it.")

_RANGE_MAX = 10_000
Numbers = Annotated[list[str], typer.Argument(metavar="ALERT", help="Numbers of alerts, or ranges of them: 3-19.")]
Number = Annotated[int, typer.Argument(metavar="ALERT", help="Number of the alert.")]
Closed = Annotated[bool, typer.Option("--closed", help="The last 200, also those that are over.")]
Kind = Annotated[str, typer.Argument(metavar="KIND", help="The kind of alerts, as `alerts list` shows it.")]
Subject = Annotated[
    str | None, typer.Option("--subject", metavar="SUBJECT", help="Only about this store, rule or service.")
]
For = Annotated[
    dt.timedelta,
    typer.Option("--duration", metavar="DURATION", parser=read_duration, help="How long: 90m, 4h, 2d; 0m ends it."),
]
Route = Annotated[str | None, typer.Argument(metavar="ROUTE", help="The name of a route; none: every route.")]


@command(app, "shelfsync alerts list", "shelfsync alerts list --closed --json", name="list")
def list_alerts(*, closed: Closed = False) -> Answer:
    """What is wrong now, the most severe first, and which messages persons have muted."""
    from shelfsync.alerts.steps import lists

    with opened() as context:
        found, look, muted = lists.listed(context, closed=closed), lists.look(context), lists.muted(context)
        routes = len(context.settings.alerts.routes)
    lines = [
        f"{row['alert_id']:>6}  {row['severity']:<7}  {row['kind']:<14}  {_state(row)}  {row['message']}"
        for row in found
    ]
    if not routes:
        lines.append("No route is set, so no person gets a message: SHELFSYNC_ALERTS__ROUTES (docs/how-to/alarms.md)")
    if look["stale"] or not found:
        lines.insert(0, look["line"] if look["stale"] else f"nothing is wrong; {look['line']}")
    lines += [row["line"] for row in muted]
    return Answer({"alerts": found, "muted": muted, "looked_at": look["looked_at"]}, lines)


@command(app, "shelfsync alerts show 3", "shelfsync alerts show 3 --json")
def show(number: Number) -> Answer:
    """One alert: since when, what customers see, what happens by itself, and who got a message."""
    from shelfsync.alerts.steps import lists

    with opened() as context:
        row = lists.shown(context, number)
    lines = [
        f"alert {number}: {row['kind']} ({row['severity']}), {_state(row)}",
        row["message"],
        f"Customers: {row['customers']}",
        f"By itself: {row['by_itself']}",
        f"Runbook: {row['runbook']}",
        *row["muted"],
    ]
    for message in row["messages"]:
        at = message["sent_at"]
        state = f"sent at {display.instant(at)}" if at is not None else "not needed any more"
        if at is None and message["dropped_at"] is None:
            error = f" (refused {message['tries']} times: {message['error']})" if message["tries"] else ""
            if message["sending_at"] is not None:
                begun = display.instant(message["sending_at"])
                error = f", handed to the route at {begun} without a recorded answer: it may have arrived{error}"
            state = f"due at {display.instant(message['due_at'])}{error}"
        lines.append(f"{message['act']}, route {message['route']}: {state}")
    return Answer(row, lines)


@command(app, "shelfsync alerts acknowledge 3 4 7-19", "shelfsync alerts acknowledge 3 --user ada")
def acknowledge(number: Numbers, user: User = None) -> Answer:
    """Take alerts on: no route gets an escalation about them."""
    from shelfsync.alerts.steps import lists

    numbers = [one for text in number for one in read_range(text)]
    with opened() as context:
        results = lists.acknowledge(context, numbers, who=user_or(user))
    return Answer({"alerts": results}, [one["line"] for one in results])


@command(
    app,
    "shelfsync alerts mute store_late --subject store-009 --duration 4h --reason 'moving house'",
    "shelfsync alerts mute store_late --duration 0m --reason 'they are back'",
)
def mute(kind: Kind, duration: For, subject: Subject = None, reason: Reason = None, user: User = None) -> Answer:
    """Send no message about a kind of alerts for a time, also none that waits; they are listed all the same."""
    from shelfsync.alerts.steps import lists

    if not reason:
        raise DataError("alerts mute: --reason is missing: the next person must know why no message came")
    with opened() as context:
        line = lists.mute(context, kind, subject, hours=duration.total_seconds() / 3600, who=user_or(user), why=reason)
    return Answer({"line": line}, [line])


@command(app, "shelfsync alerts test", "shelfsync alerts test operators", name="test")
def try_routes(route: Route = None) -> Answer:
    """Send a test message to each route, or to one."""
    from shelfsync.alerts.steps import lists

    with opened() as context:
        results, look = lists.try_routes(context, route), lists.look(context)
    lines = [
        f"route {one['route']}: " + ("the message was taken" if one["error"] is None else f"refused: {one['error']}")
        for one in results
    ]
    if look["stale"]:  # then a route that takes a test gets nothing else
        lines.append(look["line"])
    refused = [one["route"] for one in results if one["error"] is not None]
    error = PartlyFailedError(f"alerts test: {', '.join(refused)} took no message") if refused else None
    return Answer({"routes": results}, lines, error)


@command(app, "shelfsync alerts watch", "shelfsync alerts watch --quiet")
def watch() -> Answer:
    """Look once at what is wrong, and send what is due; for a schedule without Airflow."""
    from shelfsync.alert_conditions import watch as alert_watch

    with opened() as context:
        result = alert_watch.watch(context)
    lines = [
        *(f"opened: {line}" for line in result["opened"]),
        *(f"over: {line}" for line in result["closed"]),
        *(f"route {name}: {count} messages sent" for name, count in result["sent"].items()),
        *(f"{name} refused: {error}" for name, error in result["refused"].items()),
    ]
    error = (
        PartlyFailedError(f"alerts watch: {', '.join(result['refused'])} took no message")
        if result["refused"]
        else None
    )
    return Answer(result, lines or ["nothing has changed"], error)


def read_range(text: str) -> range:
    """`3` or `3-19`; ten thousand numbers at most."""
    found = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", text)
    numbers = range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)
    if not 0 < len(numbers) <= _RANGE_MAX:
        raise typer.BadParameter(
            f"{text!r} is no number of an alert and no range of at most {_RANGE_MAX:,}; write 3 or 3-19"
        )
    return numbers


def _state(row: dict[str, Any]) -> str:
    if row["closed_at"] is not None:
        return f"{display.instant(row['opened_at'])} to {display.instant(row['closed_at'])}"
    since = f"since {display.instant(row['opened_at'])}"
    return f"{since}, acknowledged by {row['acknowledged_by']}" if row["acknowledged_by"] else since
