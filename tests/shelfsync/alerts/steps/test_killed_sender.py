"""A sender that is killed between a service's answer and its own commit: the next one sends again, and the person can tell."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time

import pytest
import sqlalchemy as sa

from message_services import MailServer
from shelfsync.alerts.channel import REPEAT
from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.steps import lists, send_due

SENDER = """
import pickle, sys
from shelfsync.alerts.steps.send_due import send_due
from shelfsync.app import open_app
with open_app(pickle.load(sys.stdin.buffer)) as context:
    send_due(context)
"""
WAITS = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'ledger.alert_message'::regclass")

pytestmark = pytest.mark.slow


@pytest.fixture
def mails():
    mails = MailServer()
    yield mails
    mails.close()


@pytest.fixture
def killed(make_world):
    """`killed(service, address)`: a context in which the sender of one alert was killed after the service took it."""

    def kill(service, address):
        world = make_world(alerts={"routes": [{"name": "ops", "address": address}]})
        context = world.app.context
        with context.engine.begin() as connection:
            alerts.keep(connection, ("store_late",), {("store_late", "one"): "one: late"})
        with context.engine.connect() as lock:
            # What the sender commits next, after the answer, waits for this.
            service.arrived = lambda: lock.execute(sa.text("LOCK TABLE ledger.alert_message IN EXCLUSIVE MODE"))
            command = [sys.executable, "-c", SENDER]
            sender = subprocess.Popen(command, stdin=subprocess.PIPE, env={"PYTHONPATH": "include"})
            with sender.stdin:
                sender.stdin.write(pickle.dumps(world.settings))
            until_s = time.monotonic() + 60
            while not _waits(context):
                assert sender.poll() is None, "the sender ended before it was killed"
                assert time.monotonic() < until_s, "the sender has not come to its commit"
                time.sleep(0.05)
            sender.send_signal(signal.SIGKILL)
            sender.wait()
            lock.rollback()
        service.arrived = lambda: None
        return context

    return kill


def _waits(context):
    with context.engine.connect() as connection:
        return connection.execute(WAITS).scalar_one() > 0


def send(context):
    """What the next sender sends; the dead one's lock goes with its connection."""
    until_s = time.monotonic() + 30
    while not (sent := send_due.send_due(context)["sent"]):
        assert time.monotonic() < until_s
        time.sleep(0.1)
    return sent


def test_a_webhook_gets_the_same_text_and_key_again(killed, chat):
    context = killed(chat, chat.address)
    with context.engine.begin() as connection:
        alerts.keep(
            connection, ("store_late",), {("store_late", "one"): "one: later", ("store_late", "two"): "two: late"}
        )
    (message,) = lists.shown(context, 1)["messages"]
    assert message["sending_at"] is not None
    assert message["sent_at"] is None
    assert send(context) == {"ops": 1}
    first, again = chat.taken
    assert first == again
    assert chat.keys[0] is not None
    assert chat.keys[0] == chat.keys[1]
    assert send(context) == {"ops": 1}, "what came meanwhile is a message of its own"
    assert "two: late" in chat.taken[2]["message"]
    assert "one: late" not in chat.taken[2]["message"]
    assert chat.keys[2] not in {None, chat.keys[0]}
    assert send_due.send_due(context) == {"sent": {}, "refused": {}}


def test_a_mail_has_the_same_message_id_and_may_be_a_repeat(killed, mails):
    context = killed(mails, mails.address("buyer@example.com"))
    assert send(context) == {"ops": 1}
    first, again = mails.mails
    assert first["Message-ID"] == again["Message-ID"]
    assert first.get_all("Message-ID") == [first["Message-ID"]]
    assert REPEAT not in first.get_body(("plain",)).get_content()
    assert again.get_body(("plain",)).get_content().startswith(REPEAT)


def test_a_chat_in_slacks_shape_may_show_it_twice_and_the_second_names_itself(killed, chat):
    context = killed(chat, f"mmost://{chat.host}/{'a' * 24}")
    assert send(context) == {"ops": 1}
    first, again = (message["text"] for message in chat.taken)
    assert REPEAT not in first
    assert REPEAT in again
    assert "one: late" in again


def test_a_pager_gets_the_same_incident_again_and_its_end(killed, chat):
    context = killed(chat, f"goalert://{chat.host}/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
    assert send(context) == {"ops": 1}
    with context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {})
    assert send(context) == {"ops": 1}
    first, again, end = chat.taken
    assert first == again
    assert {first["dedup"]} == {end["dedup"]}
    assert (first.get("action"), end["action"]) == (None, "close")


def test_a_repeat_that_is_refused_keeps_its_key_until_it_is_taken(killed, chat):
    context = killed(chat, chat.address)
    chat.refuses = True
    until_s = time.monotonic() + 30
    while not send_due.send_due(context)["refused"]:
        assert time.monotonic() < until_s
        time.sleep(0.1)
    with context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {})
        connection.execute(sa.text("UPDATE ledger.alert_message SET due_at = now() WHERE sent_at IS NULL"))
    chat.refuses = False
    assert send(context) == {"ops": 1}, "it may have arrived, so it is not dropped although it is over"
    assert chat.keys[0] == chat.keys[1]
    assert send(context) == {"ops": 1}, "and then its end"
    assert chat.taken[2]["title"].startswith("shelfsync: over")
