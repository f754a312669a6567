"""A mail over SMTP and a message to Slack over TLS, to servers that answer as the real ones do, and that refuse."""

from __future__ import annotations

import importlib

import pytest

from message_services import Chat, MailServer, Slack
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


def test_a_pager_gets_as_much_of_a_long_text_as_it_takes(monkeypatch):
    plugin = importlib.import_module("apprise.plugins.pagerduty")
    chat = Chat()
    monkeypatch.setattr(
        plugin, "PAGERDUTY_API_LOOKUP", dict.fromkeys(plugin.PAGERDUTY_API_LOOKUP, f"http://{chat.host}/")
    )
    text = "\n".join(f"- store-{number:03}: the oldest change waits" for number in range(200))
    channel.send(
        "pager", f"pagerduty://{'i' * 32}@{'k' * 20}", "shelfsync: severe: 200 stores are late", text, key="key-1"
    )
    chat.close()
    (message,) = chat.taken
    summary = message["payload"]["summary"]
    assert len(summary) <= 1024
    assert summary.startswith("shelfsync: severe: 200 stores are late")
    assert "store-000" in summary
    assert summary.endswith("`shelfsync alerts list`")


def test_a_chat_gets_a_long_text_in_parts():
    chat = Chat()
    lines = [f"- store-{number:03}: the oldest change waits" for number in range(200)]
    assert channel.send("chat", f"mmost://{chat.host}/{'t' * 24}", "200 stores are late", "\n".join(lines)) is None
    chat.close()
    parts = [message["text"] for message in chat.taken]
    assert len(parts) > 1
    assert all(len(part) <= 4000 for part in parts)
    assert all(line in "\n".join(parts) for line in lines)


def test_an_address_may_say_itself_what_becomes_of_a_long_text():
    chat = Chat()
    channel.send("chat", f"mmost://{chat.host}/{'t' * 24}?overflow=truncate", "title", "x" * 9000)
    chat.close()
    assert len(chat.taken) == 1


def test_the_operators_own_key_of_incidents_stays_and_one_end_does_not_end_them_all():
    chat = Chat()
    address = f"goalert://{chat.host}/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0?dedup=mine"
    assert channel.send("pager", address, "title", "text", key="key-1", urgency="success") is None
    chat.close()
    assert [(message["dedup"], message.get("action")) for message in chat.taken] == [("mine", None)]


@pytest.fixture
def slack(tmp_path, monkeypatch):
    """Slack itself is asked, through a proxy: its address is fixed in Apprise, as it is in the world."""
    slack = Slack(tmp_path / "slack.pem")
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", slack.proxy)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(slack.certificate))
    yield slack
    slack.close()


SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7/#shelf"


@pytest.mark.parametrize(("urgency", "color"), [("failure", "#A32037"), ("warning", "#CACF29"), ("success", "#3AA337")])
def test_slack_gets_title_text_channel_and_colour_in_its_own_shape(slack, urgency, color):
    text = "SEVERE: a store is late\n- store-001: 3 < 4 & more (alert 1)\nTake it on: shelfsync alerts acknowledge 1"
    assert (
        channel.send("ops", SLACK, "shelfsync: severe: a store is late", text, urgency=urgency, key="its-key") is None
    )
    assert slack.asked == ["hooks.slack.com:443"]
    [(path, message)] = slack.taken
    assert path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7"
    assert message["channel"] == "#shelf"
    (attachment,) = message["attachments"]
    assert attachment["title"] == "shelfsync: severe: a store is late"
    assert attachment["text"] == text.replace("&", "&amp;").replace("<", "&lt;"), "Slack shows it as it was"
    assert attachment["color"] == color


def test_a_repeat_to_slack_names_itself(slack):
    assert channel.send("ops", SLACK, "title", "text", key="its-key", again=True) is None
    [(_, message)] = slack.taken
    assert message["attachments"][0]["text"].startswith(channel.REPEAT)


@pytest.mark.parametrize("answer", [(403, "invalid_token"), (404, "channel_not_found"), (429, "rate_limited")])
def test_what_slack_refuses_is_reported_in_one_line_without_the_token(slack, answer):
    slack.answer = answer
    refusal = channel.send("ops", SLACK, "title", "text")
    assert str(answer[0]) in refusal
    assert "\n" not in refusal
    assert "TIiajkdnlazkcOXrIdevi7" not in refusal
    assert slack.taken == []
