"""A condition is one alert from its first sight to its end; a route gets a message about both, and none is lost."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import re
import textwrap
import threading
import time
import tomllib
from pathlib import Path

import pytest
import sqlalchemy as sa

from alert_sending import found, pass_time
from shelfsync.alerts.channel import REPEAT
from shelfsync.alerts.ledger import alerts, outbox
from shelfsync.alerts.ledger.tables import alert
from shelfsync.alerts.message_retry import KEPT_TRIES
from shelfsync.alerts.steps import lists, send_due
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.store import engine as store_engine
from shelfsync.store.metadata import instant


@pytest.fixture
def pager(make_world, chat):
    """A context whose one route is a pager."""
    routes = [{"name": "pager", "address": f"goalert://{chat.host}/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"}]
    return make_world(alerts={"routes": routes}).app.context


def killed(context, route="ops", message=1):
    """What a sender leaves that is killed while the route has the message."""
    with context.engine.begin() as connection:
        outbox.begin(connection, outbox.Sending(route, "its-key", "failure", "title", "text", (message,)))


def refused_to_the_end(make_world, chat, **messages):
    """A context whose one route has refused a message that may have arrived as often as it is kept; an hour after that, it takes all."""
    context = make_world(alerts={"routes": [{"name": "ops", "address": chat.address}]}).app.context
    chat.refuses = True
    found(context, one="one: late")
    killed(context)
    for _ in range(KEPT_TRIES):
        pass_time(context, 60)
        assert list(found(context, **messages)["refused"]) == ["ops"]
    chat.refuses = False
    pass_time(context, 60)
    return context


@pytest.mark.slow
def test_a_condition_that_many_runs_meet_is_one_alert_and_two_messages(context, chat):
    assert found(context, one="one: late")["sent"] == {"ops": 1}
    assert found(context, one="one: later")["sent"] == {}
    assert [row["message"] for row in lists.listed(context)] == ["one: later"]
    assert found(context)["sent"] == {"ops": 1}
    assert found(context)["sent"] == {}
    opened, closed = chat.taken
    assert opened["title"] == "shelfsync: severe: a store is late (one)"
    assert "- one: late (alert 1, since " in opened["message"]
    assert "Runbook: docs/how-to/runbooks/changes-not-acknowledged.md" in opened["message"]
    assert closed["title"] == "shelfsync: over: a store is late (one)"
    assert lists.listed(context) == []


def test_what_comes_back_is_another_alert(context):
    for _ in range(2):
        found(context, one="one: late")
        found(context)
    assert [row["alert_id"] for row in lists.listed(context, closed=True)] == [2, 1]


def test_many_alike_are_one_message(context, chat):
    found(context, **{f"store_{number}": f"store {number}: late" for number in range(17)})
    (message,) = chat.taken
    assert message["title"] == "shelfsync: severe: a store is late (17 times)"
    assert message["message"].count("\n- ") == 6
    assert "- and 12 more" in message["message"]


def test_a_message_that_a_route_refuses_stays_until_it_is_taken(context, chat):
    chat.refuses = True
    assert list(found(context, one="one: late")["refused"]) == ["ops"]
    assert found(context, one="one: late") == {"sent": {}, "refused": {}}, "it waits before it tries again"
    pass_time(context, 1)
    assert list(found(context, one="one: late")["refused"]) == ["ops"]
    assert [row["kind"] for row in lists.listed(context)] == ["store_late", "route_away"]
    chat.refuses = False
    pass_time(context, 2)
    assert found(context, one="one: late")["sent"] == {"ops": 1}
    assert [row["kind"] for row in lists.listed(context)] == ["store_late"]
    assert len(chat.taken) == 1


def test_what_was_over_before_a_route_took_it_is_not_sent(context, chat):
    chat.refuses = True
    found(context, one="one: late")
    chat.refuses = False
    found(context)
    pass_time(context, 1)
    assert found(context) == {"sent": {}, "refused": {}}
    assert chat.taken == []


@pytest.mark.slow
def test_a_repeat_that_a_route_refuses_each_time_lets_the_others_through(make_world, chat):
    context = refused_to_the_end(make_world, chat, one="one: late", two="two: late")
    assert found(context, one="one: late", two="two: late")["sent"] == {"ops": 2}
    (message,) = chat.taken
    assert message["message"].startswith(REPEAT)
    assert "one: late" in message["message"]
    assert "two: late" in message["message"]


@pytest.mark.slow
def test_the_end_of_what_nobody_may_have_got_is_not_sent(make_world, chat):
    context = refused_to_the_end(make_world, chat, one="one: late")
    assert found(context) == {"sent": {}, "refused": {}}
    assert chat.taken == []


def test_a_route_goes_on_when_an_alert_that_it_was_handed_is_removed(context):
    found(context, one="one: late")
    killed(context)
    with context.engine.begin() as connection:
        connection.execute(alert.delete())
    assert found(context, two="two: late")["sent"] == {"ops": 1}


def test_only_what_no_person_takes_on_goes_on_to_the_next(context, chat):
    found(context, one="one: late", two="two: late")
    first, second = (row["alert_id"] for row in lists.listed(context))
    (result,) = lists.acknowledge(context, [first], who="ada")
    assert result["acknowledged"]
    (again,) = lists.acknowledge(context, [first], who="bob")
    assert "acknowledged by ada" in again["line"]
    pass_time(context, 61)
    assert found(context, one="one: late", two="two: late")["sent"] == {"boss": 1}
    assert "two: late" in chat.taken[-1]["message"]
    assert "one: late" not in chat.taken[-1]["message"]
    sent = {(row["route"], row["sent_at"] is not None) for row in lists.shown(context, second)["messages"]}
    assert sent == {("ops", True), ("boss", True)}


def test_what_got_worse_since_a_person_took_it_on_is_sent_and_goes_on_to_the_next(context, chat):
    def look(revision):
        with context.engine.begin() as connection:
            late = ("store_late", "one")
            alerts.keep(connection, ("store_late",), {late: f"one: {revision}"}, revisions={late: revision})
        return send_due.send_due(context)["sent"]

    assert look(1) == {"ops": 1}
    (row,) = lists.listed(context)
    lists.acknowledge(context, [row["alert_id"]], who="ada")
    pass_time(context, 61)
    assert look(1) == {}
    assert look(2) == {"ops": 1}
    assert lists.listed(context)[0]["acknowledged_by"] is None
    pass_time(context, 59)
    assert look(2) == {}, "the hour begins with what is new"
    pass_time(context, 2)
    assert look(2) == {"boss": 1}
    assert "one: 2" in chat.taken[-1]["message"]


def muted(context, hours, *, subject="one"):
    lists.mute(context, "store_late", subject, hours=hours, who="ada", why="moving house")


def clock(minutes):
    """The time of the day so many minutes from now, in the zone of the settings."""
    return f"{dt.datetime.now(dt.UTC) + dt.timedelta(minutes=minutes):%H:%M}"


def held_back(make_world, chat, **options):
    """A context whose one route is in its quiet hours, for an hour."""
    route = {"name": "ops", "address": chat.address, "quiet_from": clock(-60), "quiet_to": clock(60)} | options
    return make_world(alerts={"routes": [route]}).app.context


@pytest.mark.parametrize("times", [{"digest_at": 60}, {"quiet_from": -60, "quiet_to": 60}])
def test_what_opens_and_ends_before_the_digest_or_in_quiet_hours_is_reported_once(make_world, chat, times):
    route = {"name": "ops", "address": chat.address} | {name: clock(minutes) for name, minutes in times.items()}
    context = make_world(alerts={"routes": [route]}).app.context
    found(context, one="one: late", two="two: late")
    assert found(context, two="two: late") == {"sent": {}, "refused": {}}
    pass_time(context, 61)
    chat.refuses = True
    assert list(found(context, two="two: late")["refused"]) == ["ops"]
    chat.refuses = False
    pass_time(context, 61)
    found(context, two="two: late")
    (message,) = chat.taken
    assert message["title"] == "shelfsync: severe: a store is late (two)"
    (over,) = (line for line in message["message"].splitlines() if "one: late" in line)
    assert re.fullmatch(r"- a store is late \(one\): from .* to .*: one: late", over)
    assert message["message"].count("a store is late (one)") == 1
    pass_time(context, 61)
    assert found(context, two="two: late") == {"sent": {}, "refused": {}}
    assert found(context) == {"sent": {}, "refused": {}}
    pass_time(context, 24 * 60)
    assert found(context)["sent"] == {"ops": 1}
    assert [message["title"] for message in chat.taken[1:]] == ["shelfsync: over: a store is late (two)"]


def test_what_ends_in_quiet_hours_before_its_escalation_or_muted_is_not_reported(make_world, chat):
    context = held_back(make_world, chat, unacknowledged_minutes=20)
    found(context, one="one: late", two="two: late", three="three: late")
    pass_time(context, 10)
    found(context, two="two: late", three="three: late")
    muted(context, 1, subject="three")
    pass_time(context, 20)
    assert found(context) == {"sent": {}, "refused": {}}
    pass_time(context, 90)
    assert found(context)["sent"] == {"ops": 1}
    assert [name in chat.taken[0]["message"] for name in ("(one)", "(two)", "(three)")] == [False, True, False]
    assert found(context) == {"sent": {}, "refused": {}}


def test_a_pager_opens_no_incident_for_what_was_over_in_its_quiet_hours(make_world, chat):
    context = held_back(make_world, chat, address=f"goalert://{chat.host}/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
    found(context, one="one: late")
    found(context)
    pass_time(context, 90)
    assert found(context) == {"sent": {}, "refused": {}}


@pytest.mark.slow
def test_a_killed_sender_leaves_what_was_over_meanwhile_to_be_reported_once(make_world, chat):
    context = held_back(make_world, chat)
    found(context, one="one: late")
    found(context)
    pass_time(context, 61)
    with context.engine.begin() as connection:
        outbox.begin(connection, outbox.Sending("ops", "its-key", "success", "title", "text", (1,), ended=(1,)))
    assert found(context)["sent"] == {"ops": 2}
    assert found(context) == {"sent": {}, "refused": {}}
    assert len(chat.taken) == 1


@pytest.mark.slow
def test_an_incident_that_is_muted_ends_by_its_key_after_the_mute(pager, chat):
    found(pager, one="one: late")
    muted(pager, 1)
    assert found(pager) == {"sent": {}, "refused": {}}
    muted(pager, 0)
    found(pager)
    (opened, _), (closed, act) = incidents(chat)
    assert (opened, act) == (closed, "close")


def test_two_senders_send_it_once(context, chat):
    with context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {("store_late", "one"): "one: late"})
    threads = [threading.Thread(target=send_due.send_due, args=(context,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    send_due.send_due(context)
    assert len(chat.taken) == 1


def test_a_route_slower_than_a_transaction_may_be_idle_gets_its_message_once(context, chat, monkeypatch):
    monkeypatch.setattr(store_engine, "IDLE_IN_TRANSACTION_S", 1)
    engine = store_engine.create_engine(context.settings.database_url.get_secret_value())
    others = []

    def wait_long():
        chat.arrived = lambda: None
        time.sleep(3)
        others.append(send_due.send_due(context))

    chat.arrived = wait_long
    try:
        assert found(dataclasses.replace(context, engine=engine), one="one: late") == {
            "sent": {"ops": 1},
            "refused": {},
        }
    finally:
        engine.dispose()
    assert others == [{"sent": {}, "refused": {}}]
    assert len(chat.taken) == 1


def test_a_route_is_tried_by_hand(context, chat):
    assert lists.try_routes(context, "ops") == [{"route": "ops", "error": None}]
    assert chat.taken[0]["title"] == "shelfsync: test of a route"
    with pytest.raises(DataError, match="there is no route 'nobody'"):
        lists.try_routes(context, "nobody")


@pytest.mark.parametrize(
    ("route", "wrong"),
    [
        ({"name": "ops", "address": "pigeon://canary-route-2/loft"}, "(pigeon) is none that Apprise knows"),
        ({"name": "ops", "address": "json://localhost", "kinds": ["late_store"]}, "names the kind 'late_store'"),
    ],
)
def test_a_wrong_route_is_found_by_check_and_its_address_is_not_shown(make_world, route, wrong):
    world = make_world(alerts={"routes": [route]})
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ALERTS__ROUTES") as error:
        world.app.warnings()
    assert wrong in str(error.value)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    "route",
    [{"name": "new", "address": "pigeon://loft"}, {"name": "new", "address": "json://a", "kinds": ["late_store"]}],
)
def test_a_wrong_route_keeps_no_message_from_the_others_and_loses_none_of_its_own(make_world, chat, route):
    good = {"name": "ops", "address": chat.address}
    context = make_world(alerts={"routes": [route, good]}).app.context
    with pytest.raises(ConfigurationError, match="'new'"):
        found(context, one="one: late")
    assert [message["message"].count("one: late") for message in chat.taken] == [1]
    with pytest.raises(ConfigurationError, match="'new'"):
        found(context)
    assert len(chat.taken) == 2, "its end, and that the other route is wrong"
    right = {"name": "new", "address": chat.address + "new"}
    before = make_world(alerts={"routes": [right, good]}).app.context
    chat.refuses = True
    found(before, two="two: late")
    pass_time(before, 60)
    with pytest.raises(ConfigurationError, match="'new'"):
        found(context, two="two: late")
    chat.refuses = False
    pass_time(before, 60)
    assert set(found(before, two="two: late")["sent"]) == {"ops", "new"}


def documented_routes(chat):
    """The routes of the page of alerts, each with an address here."""
    page = (Path(__file__).parents[4] / "docs/how-to/alarms.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    routes = tomllib.loads(textwrap.dedent(example))["alerts"]["routes"]
    return {route["name"]: route | {"address": f"{chat.address}{route['name']}"} for route in routes}


@pytest.mark.parametrize("address", [None, "pigeon://canary-route-2/loft"], ids=["away", "wrong"])
def test_every_other_route_takes_that_one_is_away_or_wrong_whatever_else_it_takes(make_world, chat, address):
    routes = documented_routes(chat)
    routes["operators"]["address"] = address or "json://127.0.0.1:9/"
    context = make_world(alerts={"routes": list(routes.values())}).app.context
    for _ in range(4):
        with contextlib.suppress(ConfigurationError):
            found(context, one="one: late")
        pass_time(context, 60)
    (away,) = (row for row in lists.listed(context) if row["kind"] == "route_away")
    assert away["subject"] == "operators"
    assert "canary" not in away["message"]
    messages = lists.shown(context, away["alert_id"])["messages"]
    assert {message["route"] for message in messages} == {"on-call", "buyer"}
    assert any("WARNING: messages do not reach a route" in message["message"] for message in chat.taken)
    routes["operators"]["address"] = chat.address
    right = make_world(alerts={"routes": list(routes.values())}).app.context
    pass_time(context, 60)
    found(right, one="one: late")
    assert [row["kind"] for row in lists.listed(context)] == ["store_late"]


def test_a_muted_route_away_reaches_no_route(make_world, chat):
    routes = [
        {"name": "ops", "address": "pigeon://loft"},
        {"name": "boss", "address": chat.address, "severities": ["severe"]},
    ]
    context = make_world(alerts={"routes": routes}).app.context
    lists.mute(context, "route_away", "ops", hours=1, who="ada", why="the pigeons moult")
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="'ops'"):
            found(context)
    assert chat.taken == []
    lists.mute(context, "route_away", "ops", hours=0, who="ada", why="they fly again")
    with pytest.raises(ConfigurationError, match="'ops'"):
        found(context)
    (message,) = chat.taken
    assert "docs/how-to/runbooks/README.md" in message["message"]


@pytest.mark.slow
def test_a_pager_ends_an_incident_when_all_that_opened_it_is_over(pager, chat):
    found(pager, one="one: late", two="two: late")
    found(pager, two="two: late", three="three: late")
    assert [message.get("action") for message in chat.taken] == [None, None], "two is still late"
    found(pager, three="three: late")
    found(pager)
    first, second, *ends = chat.taken
    assert [(end["action"], end["dedup"]) for end in ends] == [("close", first["dedup"]), ("close", second["dedup"])]
    assert first["dedup"] != second["dedup"]
    assert [end["details"].count("a store is late") for end in ends] == [2, 1]


def incidents(chat):
    """The key and the action of each message, the oldest first."""
    return [(message["dedup"], message.get("action", "open")) for message in chat.taken]


@pytest.mark.slow
def test_an_alert_that_got_worse_is_the_same_incident(pager, chat):
    found(pager, one="one: late", two="two: late")
    late = {("store_late", name): f"{name}: later" for name in ("one", "three")}
    with pager.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), late, revisions={("store_late", "one"): 1})
    send_due.send_due(pager)
    found(pager)
    (first, _), (second, _), *_ = incidents(chat)
    assert first != second
    assert incidents(chat)[2:] == [(first, "open"), (first, "close"), (second, "close")]
    assert "one: later" in chat.taken[2]["details"]
    assert "one: later" not in chat.taken[1]["details"]


@pytest.mark.slow
def test_an_incident_whose_answer_was_lost_is_ended(pager, chat):
    def lose():
        chat.refuses = True

    chat.arrived = lose
    assert list(found(pager, one="one: late")["refused"]) == ["pager"]
    chat.arrived, chat.refuses = (lambda: None), False
    pass_time(pager, 1)
    found(pager, one="one: late", two="two: late")
    found(pager, one="one: late", two="two: late")
    found(pager)
    (first, _), _, (second, _), *_ = incidents(chat)
    assert first != second
    assert incidents(chat)[1:] == [(first, "open"), (second, "open"), (first, "close"), (second, "close")]


@pytest.mark.slow
@pytest.mark.parametrize("goes_on", [True, False])
def test_an_incident_that_may_have_arrived_keeps_its_key_after_the_last_try(pager, chat, goes_on):
    def lose():
        chat.refuses = True

    chat.arrived = lose
    assert list(found(pager, one="one: late")["refused"]) == ["pager"]
    chat.arrived = lambda: None
    for _ in range(KEPT_TRIES):
        pass_time(pager, 60)
        assert list(found(pager, one="one: late")["refused"]) == ["pager"]
    chat.refuses = False
    pass_time(pager, 60)
    if goes_on:
        found(pager, one="one: late", two="two: late")
    found(pager)
    (first, _), *rest = incidents(chat)
    assert [act for key, act in rest if key == first] == (["open", "close"] if goes_on else ["close"])
    assert [act for key, act in rest if key != first] == (["open", "close"] if goes_on else [])


def test_a_route_that_may_hang_is_tried_after_the_others(make_world, chat):
    routes = [{"name": name, "address": chat.address} for name in ("first", "second")]
    context = make_world(alerts={"routes": routes}).app.context
    chat.refuses = True
    found(context, one="one: late")
    killed(context, "first")
    chat.refuses = False
    pass_time(context, 1)
    assert list(found(context, one="one: late")["sent"]) == ["second", "first"]


def test_a_route_that_airflow_alone_can_send_to_is_away_if_it_does_not(make_world, chat):
    routes = [{"name": "ops", "address": chat.address}, {"name": "pager", "address": "connection:pager"}]
    context = make_world(alerts={"routes": routes}).app.context
    assert found(context, one="one: late")["sent"] == {"ops": 1}
    assert [row["kind"] for row in lists.listed(context)] == ["store_late"]
    pass_time(context, 11)
    found(context, one="one: late")
    found(context, one="one: late")
    assert {row["kind"] for row in lists.listed(context)} == {"store_late", "route_away"}
    assert "the route pager got nothing for ten minutes" in chat.taken[-1]["message"]


def test_the_error_of_a_route_is_that_of_its_newest_try(context):
    with context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {("store_late", name): f"{name}: late" for name in ("one", "two")})
        now = connection.execute(sa.select(instant())).scalar_one()
        for number, row in enumerate(alerts.open_alerts(connection)):
            due = {"act": "opened", "revision": 0, "route": "ops", "due_at": now + dt.timedelta(minutes=number)}
            outbox.owe(connection, [{"alert_id": row["alert_id"], **due}])
        for error, which in (("timed out", "min"), ("401 Unauthorized", "max")):
            numbered = f"(SELECT {which}(message_id) FROM ledger.alert_message)"
            connection.execute(
                sa.text(f"UPDATE ledger.alert_message SET tries = 1, error = :error WHERE message_id = {numbered}"),
                {"error": error},
            )
        assert outbox.failures(connection) == {"ops": (1, "401 Unauthorized")}
