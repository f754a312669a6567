"""Real servers on loopback that send exactly the bytes of a test, and a client that calls them."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import httpx
import pytest
from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient
from partner_api.session import SystemClock

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator


@dataclass
class Seen:
    """A request as it was on the wire."""

    method: str
    target: str
    headers: httpx.Headers
    body: bytes
    complete: bool

    @property
    def path(self) -> str:
        return self.target.split("?", 1)[0]


@dataclass
class RawServer:
    """One thread a connection, one request a connection. `script(seen, send)` answers; `send` takes raw bytes."""

    script: Callable[[Seen, Callable[[bytes], None]], None]
    tls: ssl.SSLContext | None = None
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.released = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    @property
    def base_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def of(self, method: str, path_end: str = "") -> list[Seen]:
        return [one for one in self.seen if one.method == method and one.path.endswith(path_end)]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.callback(connection.close)
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
                stack.callback(connection.close)
            seen = _read(connection)
            if seen is not None:
                self.seen.append(seen)
                self.script(seen, connection.sendall)


def _read(connection: socket.socket) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = httpx.Headers([tuple(line.split(": ", 1)) for line in lines])
    expected = int(headers.get("content-length", "0"))
    parts, length = [body], len(body)
    while length < expected:
        chunk = connection.recv(65536)
        if not chunk:
            break
        parts.append(chunk)
        length += len(chunk)
    return Seen(method, target, headers, b"".join(parts), length == expected)


def http(status: int, body: bytes | str | dict | list = b"", **headers: str) -> bytes:
    """An answer in bytes, with its right length. Header names are written with underscores."""
    if isinstance(body, dict | list):
        body = json.dumps(body).encode()
        headers.setdefault("content_type", "application/json")
    if isinstance(body, str):
        body = body.encode()
    headers.setdefault("content_length", str(len(body)))
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Platform:
    """A script for RawServer: issues tokens, and answers each other request with the next of `answers` (the last one for ever)."""

    def __init__(
        self, *answers: bytes | Callable[[Seen, Callable[[bytes], None]], None], expires_in: Any = 7200
    ) -> None:
        self.answers = list(answers)
        self.expires_in = expires_in
        self.tokens = 0
        self._lock = threading.Lock()

    def __call__(self, seen: Seen, send: Callable[[bytes], None]) -> None:
        if seen.path.endswith("/oauth/token"):
            with self._lock:
                self.tokens += 1
                name = f"canary-token-{self.tokens}"
            send(http(200, {"access_token": name, "token_type": "Bearer", "expires_in": self.expires_in}))
            return
        with self._lock:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer(seen, send)
        else:
            send(answer)


class QuickClock(SystemClock):
    """Real time, but a sleep returns at once: the clock records it and adds it to its time."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def monotonic_s(self) -> float:
        return super().monotonic_s() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)


CREDENTIALS = ClientCredentials("canary-client", SecretStr("canary-secret-9f2c"))


@dataclass
class Tools:
    """What the tests of this room share."""

    stack: contextlib.ExitStack
    http = staticmethod(http)
    Platform = Platform
    QuickClock = QuickClock
    credentials = CREDENTIALS

    def server(self, script: Any, **kwargs: Any) -> RawServer:
        return self.stack.enter_context(RawServer(script, **kwargs))

    def platform(self, *answers: Any, **kwargs: Any) -> RawServer:
        return self.server(Platform(*answers, **kwargs))

    def client(self, base: RawServer | str, **kwargs: Any) -> PartnerClient:
        """A client whose clock returns at once from a sleep."""
        kwargs.setdefault("clock", QuickClock())
        kwargs.setdefault("chance", random.Random(1))
        kwargs.setdefault("timeout_s", 5.0)
        credentials = kwargs.pop("credentials", CREDENTIALS)
        address = base if isinstance(base, str) else base.base_url
        client = PartnerClient(address, "demo-chain", credentials, **kwargs)
        self.stack.callback(client.close)
        return client


@pytest.fixture
def tools() -> Iterator[Tools]:
    """Servers and clients, closed at the end."""
    with contextlib.ExitStack() as stack:
        yield Tools(stack)
