"""A mail server of this machine that delivers nothing: it keeps each mail, and writes it into a file. For the demo alone."""

from __future__ import annotations

import email
import email.policy
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiosmtpd.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from aiosmtpd.smtp import SMTP, Envelope, Session


@dataclass(frozen=True)
class Mail:
    """What a person reads of a mail."""

    to: str
    subject: str
    text: str

    def lines(self) -> Iterator[str]:
        yield f"To: {self.to}"
        yield f"Subject: {self.subject}"
        yield ""
        yield from self.text.splitlines()


class MailCatcher:
    """Listens on a loopback port while its block runs. `mails`: all that came, oldest first; `file` has the same as text."""

    def __init__(self, file: Path) -> None:
        self.file, self.mails = file, list[Mail]()
        file.write_text("", "utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._controller = Controller(self, hostname="127.0.0.1", port=self._port)

    def __enter__(self) -> Self:
        self._controller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._controller.stop()

    def address(self, person: str) -> str:
        """The address of a route to that person, as Apprise has it."""
        return f"mailto://127.0.0.1:{self._port}?from=shelfsync@example.com&to={person}&mode=insecure"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802  aiosmtpd calls it
        content = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
        found = email.message_from_bytes(content, policy=email.policy.default)
        part = found.get_body(("plain",))
        mail = Mail(
            ", ".join(envelope.rcpt_tos),
            str(found["Subject"]),
            "" if part is None else "\n".join(part.get_content().splitlines()),
        )
        with self.file.open("a", encoding="utf-8") as opened:
            opened.writelines(f"{line}\n" for line in (*mail.lines(), "", "-" * 40))
        self.mails.append(mail)
        return "250 kept"
