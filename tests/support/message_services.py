"""Services that take messages, on loopback ports: over HTTP, as Slack over TLS, and over SMTP. They keep what they took, and refuse while told to."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller

import tls_certificate

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import EmailMessage
    from pathlib import Path

    from aiosmtpd.smtp import SMTP, Envelope, Session


class Chat:
    """Takes any POST, and counts each GET in `beats`. `taken`: the documents; `keys`: the header Idempotency-Key of each; `arrived` is called before each answer."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.beats = 0
        self.refuses = False
        self.arrived: Callable[[], None] = lambda: None
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"]))
                if not chat.refuses:
                    chat.taken.append(json.loads(text))
                    chat.keys.append(self.headers["Idempotency-Key"])
                chat.arrived()
                self.send_response(503 if chat.refuses else 200)
                self.end_headers()
                self.wfile.write(b"ok")  # as Slack answers

            def do_GET(self) -> None:
                chat.beats += 1
                self.send_response(503 if chat.refuses else 200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Prints nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    @property
    def address(self) -> str:
        return f"json://someone:canary-route-1@{self.host}/"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Slack:
    """Slack's server of incoming webhooks, behind a proxy (`HTTPS_PROXY`) as many networks have one; who sends trusts `certificate`.

    `taken`: path and document of each message. `answer`: status and text, as Slack gives them.
    """

    def __init__(self, certificate: Path) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[str] = []
        self.answer = (200, "ok")
        self.certificate = tls_certificate.write(certificate, "hooks.slack.com")
        slack, tls = self, tls_certificate.server_context(self.certificate)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self) -> None:
                slack.asked.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.request = tls.wrap_socket(self.request, server_side=True)
                self.setup()
                self.close_connection = False

            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, text = slack.answer
                if status == 200:
                    slack.taken.append((self.path, document))
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def finish(self) -> None:
                super().finish()
                self.request.close()  # the server knows the socket without TLS alone

            def log_message(self, *_: object) -> None:
                """Prints nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class MailServer:
    """A mail server that delivers nothing, and knows everybody but `nobody@…`. `arrived` is called before a mail is answered."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.arrived: Callable[[], None] = lambda: None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self._controller.start()

    async def handle_RCPT(  # noqa: N802  the names are aiosmtpd's
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address.startswith("nobody@"):
            return "550 no such person"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        text = envelope.content
        assert isinstance(text, bytes)
        self.mails.append(email.message_from_bytes(text, policy=email.policy.default))  # type: ignore[arg-type]
        self.arrived()
        return "250 taken"

    def address(self, person: str) -> str:
        return f"mailto://127.0.0.1:{self.port}?from=shelfsync@example.com&to={person}&mode=insecure"

    def close(self) -> None:
        self._controller.stop()
