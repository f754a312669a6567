"""Services that take messages, on loopback ports: one over HTTP, one over SMTP. They keep what they took, and refuse while told to."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import EmailMessage

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
