"""The sandbox on a loopback port of its own, in a thread, for any test that talks HTTP to the platform."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import certificates_once  # noqa: F401  each client of the platform asks it
from partner_sandbox.running import RunningSandbox
from partner_sandbox.settings import SandboxSettings

if TYPE_CHECKING:
    from types import TracebackType


class LiveSandbox(RunningSandbox):
    """On a port the operating system chose; jobs at once and no request limit worth the name by default.

    Keyword arguments are choices of partner_sandbox.settings.Behaviour; `settings` replaces everything.
    """

    def __init__(
        self, settings: SandboxSettings | None = None, *, dialect: str = "spec", clock: str = "real", **choices: Any
    ) -> None:
        behaviour = {
            "job_seconds": 0.0,
            "requests_per_minute": 1_000_000,
            "token_requests_per_minute": 1_000_000,
            "webhook_backoff_s": (0.05, 0.1, 0.2, 0.4, 0.8),
            **choices,
        }
        super().__init__(settings or SandboxSettings(dialect=dialect, clock=clock, behaviour=behaviour))

    def reset(self) -> None:
        """What POST reset does, without the request and its answer: some thousand tests begin with it."""
        self._server.sandbox.reset()


@dataclass(frozen=True)
class Received:
    """A call to the partner's webhook."""

    path: str
    authorization: str | None
    body: Any
    bytes: int


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # or a burst of events waits a second for its connections


class WebhookReceiver:
    """The partner's end of the webhook on a loopback port: remembers calls, answers with the next of `statuses`, then 204."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.statuses: list[int] = []
        self.hold_s = 0.0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/events"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def clear(self) -> None:
        self.received.clear()
        self.statuses.clear()
        self.hold_s = 0.0

    def wait_for(self, count: int, deadline_s: float = 10.0) -> list[Received]:
        """The calls, once there are so many."""
        end = time.monotonic() + deadline_s
        while len(self.received) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(self.received)} of {count} webhooks came")
            time.sleep(0.005)
        return list(self.received)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["content-length"]))
                call = Received(self.path, self.headers["authorization"], json.loads(text), len(text))
                receiver.received.append(call)
                time.sleep(receiver.hold_s)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        return Handler
