"""A mail over SMTP, to a server that answers as a mail server does, and one that refuses the recipient."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading

import pytest

from shelfsync.alerts import channel
from shelfsync.errors import ConfigurationError


class Smtp(socketserver.StreamRequestHandler):
    """One session: it takes every mail, except for a recipient that it does not know."""

    def handle(self):
        self.say("220 mail.example.com")
        while words := self.rfile.readline().decode().split():
            word = words[0].upper()
            if word == "DATA":
                self.say("354 go on")
                text = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.server.mails.append(email.message_from_bytes(text, policy=email.policy.default))
            if word == "QUIT":
                return self.say("221 bye")
            self.say("550 no such person" if b"nobody@" in " ".join(words).encode() else "250 ok")
        return None

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())


@pytest.fixture
def server():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Smtp) as server:
        server.mails = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def address(server, person):
    return f"mailto://127.0.0.1:{server.server_address[1]}?from=shelfsync@example.com&to={person}&mode=insecure"


def test_a_mail_has_the_title_as_subject_and_the_text_of_the_message(server):
    text = "SEVERE: a store is late\n- store-001: Käse waits"
    assert (
        channel.send("buyer", address(server, "buyer@example.com"), "shelfsync: severe: a store is late", text) is None
    )
    (mail,) = server.mails
    assert mail["Subject"] == "shelfsync: severe: a store is late"
    assert "buyer@example.com" in mail["To"]
    body = mail.get_body(("plain",)).get_content()
    assert "- store-001: Käse waits" in body


def test_a_server_that_refuses_the_recipient_is_reported_in_one_line(server):
    answer = channel.send("buyer", address(server, "nobody@example.com"), "shelfsync: severe: a store is late", "text")
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
