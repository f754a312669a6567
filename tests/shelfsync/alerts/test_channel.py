"""A mail over SMTP, to a server that answers as a mail server does, and one that refuses the recipient."""

from __future__ import annotations

import importlib

import pytest

from message_services import Chat, MailServer
from shelfsync.alerts import channel
from shelfsync.errors import ConfigurationError


@pytest.fixture
def server():
    server = MailServer()
    yield server
    server.close()


def test_a_mail_has_the_title_as_subject_and_the_text_of_the_message(server):
    text = "SEVERE: a store is late\n- store-001: Käse waits"
    assert (
        channel.send("buyer", server.address("buyer@example.com"), "shelfsync: severe: a store is late", text) is None
    )
    (mail,) = server.mails
    assert mail["Subject"] == "shelfsync: severe: a store is late"
    assert "buyer@example.com" in mail["To"]
    body = mail.get_body(("plain",)).get_content()
    assert "- store-001: Käse waits" in body


def test_a_server_that_refuses_the_recipient_is_reported_in_one_line(server):
    answer = channel.send("buyer", server.address("nobody@example.com"), "shelfsync: severe: a store is late", "text")
    assert answer is not None
    assert "\n" not in answer
    assert server.mails == []


def test_a_server_that_is_away_is_reported_in_one_line():
    answer = channel.send("buyer", "mailto://127.0.0.1:9?from=a@example.com&to=b@example.com&mode=insecure", "t", "x")
    assert answer is not None
    assert "\n" not in answer


def test_an_address_in_a_connection_of_airflow_is_named_where_there_is_no_airflow():
    channel.check_address("on-call", "connection:pager")
    with pytest.raises(ConfigurationError, match=r"'on-call'.*connection 'pager'.*alerts_watch"):
        channel.send("on-call", "connection:pager", "t", "x")


@pytest.mark.parametrize(
    ("module", "lookup", "address", "name"),
    [
        ("pagerduty", "PAGERDUTY_API_LOOKUP", f"pagerduty://{'i' * 32}@{'k' * 20}", "dedup_key"),
        ("opsgenie", "OPSGENIE_API_LOOKUP", f"opsgenie://{'k' * 36}", "alias"),
    ],
)
@pytest.mark.parametrize("urgency", ["failure", "warning", "success"])
def test_a_pager_gets_each_message_with_its_key(monkeypatch, module, lookup, address, name, urgency):
    plugin = importlib.import_module(f"apprise.plugins.{module}")
    chat = Chat()
    monkeypatch.setattr(plugin, lookup, dict.fromkeys(getattr(plugin, lookup), f"http://{chat.host}/"))
    answer = channel.send("pager", address, "title", "text", key="key-1", urgency=urgency)
    chat.close()
    assert [message[name] for message in chat.taken] == ["key-1"]
    if module == "pagerduty":
        assert answer is None or "202" not in answer
        assert chat.taken[0]["event_action"] == ("resolve" if urgency == "success" else "trigger")


def test_the_operators_own_key_of_incidents_stays_and_one_end_does_not_end_them_all():
    chat = Chat()
    address = f"goalert://{chat.host}/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0?dedup=mine"
    assert channel.send("pager", address, "title", "text", key="key-1", urgency="success") is None
    chat.close()
    assert [(message["dedup"], message.get("action")) for message in chat.taken] == [("mine", None)]
