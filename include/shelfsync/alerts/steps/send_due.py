"""send_due: owes each route its messages, and sends what is due.

A message stays in the outbox until its route has taken it, so a killed sender loses none. All that is due for a route goes as one message.
What is handed to a route is committed before, with a key. If its sender dies, the next one sends the same again: with its key, where the
route knows it by that; else with a sentence that it may be a repeat.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.alerts import channel
from shelfsync.alerts.channel import REPEAT
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger import alerts, mutes, outbox
from shelfsync.alerts.ledger.outbox import Sending
from shelfsync.alerts.message import body, key, title, urgency
from shelfsync.alerts.message_retry import AWAY_AFTER, again_after_s, is_kept
from shelfsync.alerts.route_filter import ROUTE_AWAY, takes
from shelfsync.alerts.route_times import due as due_at
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.store.metadata import instant
from shelfsync.store.session_lock import alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy.engine import Connection

    from shelfsync.alerts.message import Due
    from shelfsync.context import Context
    from shelfsync.settings import AlertRoute

log = logging.getLogger(__name__)

LOCK = 7_305_003
"""One process sends at a time: two would send the same message."""


def send_due(context: Context) -> dict[str, Any]:
    """Sends what is due: `{"sent": {route: messages}, "refused": {route: error}}`. Nothing while another process is at it.

    ConfigurationError: a route is wrong. Its messages wait, and those of every other route are sent before it is raised.
    """
    wrong = _wrong_routes(context)
    routes = {one.name: one for one in context.settings.alerts.routes if one.name not in wrong}
    with context.engine.begin() as connection:
        _owe(connection, context, routes.values())  # also while another sends, or hangs: the heartbeat sees what waits
    with alone(context.engine, kind=LOCK) as is_alone:
        result = _send_all(context, routes, wrong) if is_alone else {"sent": {}, "refused": {}}
    for error in wrong.values():
        raise error
    return result


def _send_all(
    context: Context, routes: Mapping[str, AlertRoute], wrong: Mapping[str, ConfigurationError]
) -> dict[str, Any]:
    """Sends what is due for the routes that are not wrong."""
    result: dict[str, Any] = {"sent": {}, "refused": {}}
    with context.engine.connect() as connection:
        interrupted = {one.route: one for one in outbox.interrupted(connection) if one.route in routes}
        waiting = {name: due for name, due in outbox.due(connection).items() if name in routes}
    for name in [*waiting, *interrupted]:  # what killed a sender may kill it again
        address = routes[name].address.get_secret_value()
        if channel.connection_of(address) is not None:
            number = len(waiting[name] if name in waiting else interrupted[name].messages)
            result["refused"][name] = f"{number} messages wait for the DAG alerts_watch, which knows the connection"
            continue
        again = name in interrupted
        together = [interrupted[name]] if again else _composed(context, name, address, waiting[name])
        for sending in together:
            error = _send(context, routes[name], sending, again=again)
            if error is not None:
                result["refused"][name] = error
                break
            result["sent"][name] = result["sent"].get(name, 0) + len(sending.messages)
    with context.engine.begin() as connection:
        away = {
            (ROUTE_AWAY, name): f"the route {name} refused {tries} times what was sent to it: {error}"
            for name, (tries, error) in outbox.failures(connection).items()
            if tries >= AWAY_AFTER
        }
        held = {name for name, one in routes.items() if channel.connection_of(one.address.get_secret_value())}
        for name in outbox.stuck(connection, outbox.UNSENT_S) & held:
            line = f"the route {name} got nothing for ten minutes: alerts_watch alone can send to it, and has not"
            away[ROUTE_AWAY, name] = line
        unusable = {
            (ROUTE_AWAY, name): f"the route {name} is wrong: {error.problem} (`shelfsync check` has the remedy)"
            for name, error in wrong.items()
        }
        alerts.keep(connection, (ROUTE_AWAY,), away | unusable)
    return result


def check_routes(context: Context) -> None:
    """Raises a ConfigurationError if a route names a kind that there is not, or has an address that no service has."""
    for error in _wrong_routes(context).values():
        raise error


def _wrong_routes(context: Context) -> dict[str, ConfigurationError]:
    """Route -> why it cannot be used."""
    wrong: dict[str, ConfigurationError] = {}
    for route in context.settings.alerts.routes:
        try:
            _check_route(route)
        except ConfigurationError as error:
            wrong[route.name] = error
    return wrong


def _check_route(route: AlertRoute) -> None:
    for kind in route.kinds:
        if kind not in KINDS:
            raise ConfigurationError(
                "SHELFSYNC_ALERTS__ROUTES",
                f"the route {route.name!r} names the kind {kind!r}, which there is not",
                f"The kinds are {', '.join(KINDS)}.",
            )
    channel.check_address(route.name, route.address.get_secret_value())


def _owe(connection: Connection, context: Context, routes: Iterable[AlertRoute]) -> None:
    """Adds a message for each route and open alert that it takes, and for each alert that closed after a route had reported it."""
    routes, zone = list(routes), context.settings.time_zone
    now = connection.execute(sa.select(instant())).scalar_one()
    muted = mutes.muted_alerts(connection)
    worse = outbox.worse(connection)  # an escalation about what is new waits anew
    rows = [
        {
            "alert_id": row["alert_id"],
            "act": "opened",
            "revision": row["revision"],
            "route": route.name,
            "due_at": due_at(
                route, now, zone, opened_at=now if (row["alert_id"], route.name) in worse else row["opened_at"]
            ),
        }
        for row in alerts.open_alerts(connection, KINDS)
        if row["alert_id"] not in muted
        for route in routes
        if takes(route, row["kind"], row["subject"])
    ]
    named = {route.name: route for route in routes}
    pagers = [route.name for route in routes if channel.opens_incidents(route.address.get_secret_value())]
    rows += [
        {**row, "act": "closed", "due_at": due_at(named[row["route"]], now, zone)}
        for row in outbox.unreported(connection, pagers)
        if row["route"] in named
    ]
    outbox.owe(connection, rows)
    every = context.settings.alerts.routes  # a wrong one keeps what waits for it
    held_back = [route for route in every if route.digest_at is not None or route.quiet_to is not None]
    mutes.hold_muted(connection, {route.name: due_at(route, now, zone) for route in held_back})
    escalations = [route.name for route in every if route.unacknowledged_minutes]
    missed = {route.name: route.unacknowledged_minutes for route in held_back if route.name not in pagers}
    outbox.drop(connection, [route.name for route in every], escalations, missed)


def _composed(context: Context, route: str, address: str, messages: list[Due]) -> list[Sending]:
    """All that is due as one message. Of a pager each incident is one: the new one first, then what got worse and what ends, by its key.

    The end of an incident waits until all of that is over.
    """
    chain, link = context.settings.chain, context.settings.alerts.link
    parts = {key(route, messages): messages}
    if channel.opens_incidents(address):
        new = [one for one in messages if one.incident is None]
        parts = {key(route, new): new} if new else {}
        with context.engine.connect() as connection:
            still = outbox.open_incidents(connection, route)
        for one in messages:
            if one.incident is not None and (not one.closed or one.incident not in still):
                parts.setdefault(one.incident, []).append(one)
    made = []
    for name, part in parts.items():
        text = f"{REPEAT}\n\n" * any(one.repeat for one in part) + body(part, link=link, chain=chain)
        numbers = tuple(one.message_id for one in part)
        ended = tuple(one.message_id for one in part if one.closed and one.act == "opened")
        made.append(Sending(route, name, urgency(part), title(part, chain), text, numbers, ended))
    return made


def _send(context: Context, route: AlertRoute, sending: Sending, *, again: bool) -> str | None:
    """Sends it, and records what became of it. Returns the error, if the route refused it. `again`: the route may have it already."""
    if not again:
        with context.engine.begin() as connection:
            sending = outbox.begin(connection, sending)
    address = route.address.get_secret_value()
    try:
        how = {"urgency": sending.urgency, "key": sending.key}
        error = channel.send(route.name, address, sending.title, sending.body, again=again, **how)
    except ShelfsyncError as wrong:
        error = str(wrong)
    with context.engine.begin() as connection:
        if error is None:
            outbox.sent(connection, sending)
        else:
            log.warning("alerts: the route %s refused %d messages: %s", route.name, len(sending.messages), error)
            known = outbox.failures(connection).get(route.name, (0, ""))[0]
            arrived = again or channel.opens_incidents(address)  # perhaps; an incident whose key is lost never ends
            unsure = arrived or sending.body.startswith(REPEAT)
            kept, wait_s = arrived and is_kept(known + 1), again_after_s(known + 1)
            outbox.refused(connection, sending, error=error, again_after_s=wait_s, unsure=unsure, kept=kept)
    return error
