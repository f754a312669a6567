"""A mute keeps back all messages about its alerts; its end lets go what is still open."""

from __future__ import annotations

import datetime as dt

import pytest

from alert_sending import found, pass_time
from shelfsync.alerts.channel import REPEAT
from shelfsync.alerts.ledger import outbox
from shelfsync.alerts.steps import lists
from shelfsync.errors import DataError


def test_a_muted_alert_is_listed_and_no_route_gets_it(context, chat):
    lists.mute(context, "store_late", "one", hours=1, who="ada", why="moving house")
    assert found(context, one="one: late", two="two: late")["sent"] == {"ops": 1}
    assert "one: late" not in chat.taken[0]["message"]
    assert len(lists.listed(context)) == 2
    lists.mute(context, "store_late", "one", hours=0, who="ada", why="they are back")
    assert found(context, one="one: late", two="two: late")["sent"] == {"ops": 1}
    with pytest.raises(DataError, match="there is no kind 'lost'"):
        lists.mute(context, "lost", None, hours=1, who="ada", why="x")


def muted(context, hours, *, subject="one"):
    lists.mute(context, "store_late", subject, hours=hours, who="ada", why="moving house")


def clock(minutes):
    """The time of the day so many minutes from now, in the zone of the settings."""
    return f"{dt.datetime.now(dt.UTC) + dt.timedelta(minutes=minutes):%H:%M}"


def test_a_mute_stops_the_escalation_that_waits_and_its_end_lets_it_go(context, chat):
    found(context, one="one: late")
    muted(context, 2)
    pass_time(context, 61)
    assert found(context, one="one: late") == {"sent": {}, "refused": {}}
    pass_time(context, 60)
    assert found(context, one="one: late")["sent"] == {"boss": 1}
    assert found(context, one="one: late")["sent"] == {}


def test_what_is_over_when_a_mute_ends_goes_to_those_alone_who_know_of_it(context, chat):
    found(context, one="one: late")
    muted(context, 2, subject=None)
    pass_time(context, 61)
    assert found(context, two="two: late") == {"sent": {}, "refused": {}}
    assert found(context) == {"sent": {}, "refused": {}}
    pass_time(context, 60)
    assert found(context)["sent"] == {"ops": 1}
    assert [message["title"] for message in chat.taken[1:]] == ["shelfsync: over: a store is late (one)"]


@pytest.mark.parametrize("times", [{"digest_at": 60}, {"quiet_from": -60, "quiet_to": 60}])
def test_a_mute_that_ends_does_not_send_before_the_digest_or_in_quiet_hours(make_world, chat, times):
    route = {"name": "ops", "address": chat.address} | {name: clock(minutes) for name, minutes in times.items()}
    context = make_world(alerts={"routes": [route]}).app.context
    found(context, one="one: late")
    muted(context, 9)
    pass_time(context, 120)
    assert found(context, one="one: late")["sent"] == {}, "it was due an hour ago"
    muted(context, 0)
    assert found(context, one="one: late")["sent"] == {}
    pass_time(context, 61)
    assert found(context, one="one: late")["sent"] == {"ops": 1}


def test_a_mute_stops_the_tries_of_a_refused_message(make_world, chat):
    context = make_world(alerts={"routes": [{"name": "ops", "address": chat.address}]}).app.context
    chat.refuses = True
    for _ in range(2):
        found(context, one="one: late")
        pass_time(context, 60)
    assert [row["kind"] for row in lists.listed(context)] == ["store_late", "route_away"]
    muted(context, 9)
    chat.refuses = False
    assert found(context, one="one: late") == {"sent": {}, "refused": {}}
    assert [row["kind"] for row in lists.listed(context)] == ["store_late"], "nothing waits for the route"
    muted(context, 0)
    assert "ops" in found(context, one="one: late")["sent"]


@pytest.mark.slow
def test_what_was_begun_together_with_a_muted_alert_is_sent_again_without_it(make_world, chat):
    context = make_world(alerts={"routes": [{"name": "ops", "address": chat.address}]}).app.context
    chat.refuses = True
    found(context, one="one: late", two="two: late")
    with context.engine.begin() as connection:
        outbox.begin(connection, outbox.Sending("ops", "its-key", "failure", "title", "text", (1, 2)))
    chat.refuses = False
    pass_time(context, 1)
    muted(context, 1)
    assert found(context, one="one: late", two="two: late")["sent"] == {"ops": 1}
    muted(context, 0)
    assert found(context, one="one: late", two="two: late")["sent"] == {"ops": 1}
    second, first = (message["message"] for message in chat.taken)
    assert [text.startswith(REPEAT) for text in (second, first)] == [True, True]
    assert [("one: late" in text, "two: late" in text) for text in (second, first)] == [(False, True), (True, False)]
