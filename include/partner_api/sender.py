"""A request over HTTP and its answer: what goes over the wire, and the sender.

One request, one connection: at sixty requests a minute reuse gains nothing. A reused connection that the server closes makes the
fate of a request ambiguous.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from partner_api.deadline import Deadline
from partner_api.errors import InvalidRequestError
from partner_api.http_library import httpx
from partner_api.receivers import StopReceiving

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from pydantic import SecretStr

_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


class StreamedBody:
    """A body that is not held in memory: `chunks` can be iterated again (a 401 sends it twice), `body_bytes` is its exact length."""

    def __init__(self, chunks: Iterable[bytes], body_bytes: int) -> None:
        if isinstance(chunks, Iterator):
            raise TypeError(
                "StreamedBody: chunks is an iterator, which can be read only once; give something re-iterable"
            )
        self.chunks = chunks
        self.body_bytes = body_bytes

    def __iter__(self) -> Iterator[bytes]:
        """The chunks; each waits until the next is known, so that a body of the wrong length is never sent whole."""
        seen_bytes = 0
        held = b""
        for chunk in self.chunks:
            seen_bytes += len(chunk)
            if seen_bytes > self.body_bytes:
                raise self._wrong("more")
            if held:
                yield held
            held = chunk
        if seen_bytes != self.body_bytes:
            raise self._wrong(f"only {seen_bytes}")
        yield held

    def _wrong(self, found: str) -> InvalidRequestError:
        return InvalidRequestError(
            f"the body was announced with {self.body_bytes} bytes and has {found}",
            remedy="The request was cut off and is void; give the exact length of the body",
        )


class BodyStream(httpx.SyncByteStream):
    """A body as httpx's transports take it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `connect_to`: the checked address that the connection must go to, whatever the name resolves to by then."""

    method: str
    url: str
    headers: dict[str, str] = field(repr=False)
    body: bytes | StreamedBody = field(default=b"", repr=False)
    connect_to: str | None = None
    deadline_s: float = 300.0
    head_s: float | None = None
    """Seconds for the head of the answer; None: as long as for the whole."""

    @property
    def body_bytes(self) -> int:
        return len(self.body) if isinstance(self.body, bytes) else self.body.body_bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `body` is expanded and at most as long as the receiver allowed.

    `cut`: the body of a rejection was not readable to its end; the head counts, and `body` is the part that was read.
    """

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    request_id: str | None = None
    token: SecretStr | None = None
    """The token that the request carried, so that excerpts can hide it."""
    cut: bool = False
    renewed: bool = False
    """The request carried a token that was new because the platform had rejected the one before."""

    @property
    def content_type(self) -> str:
        return str(self.headers.get("content-type", "")).split(";")[0].strip().lower()


class Receiver(Protocol):
    """Takes an answer's body as it comes."""

    @property
    def spent(self) -> bool:
        """Whether the receiver has already written a part that it cannot take back: then there is no other attempt."""

    @property
    def cut(self) -> bool:
        """Whether the body of a rejection was not readable to its end."""

    @property
    def slowness(self) -> str | None:
        """Why the body is too slow to wait for. Another thread asks this, too."""

    def begin(self, status: int, headers: httpx.Headers, *, framed: bool) -> None:
        """The head is there. `framed`: the protocol distinguishes the body's end from a cut connection."""

    def feed(self, chunk: bytes) -> None:
        """A piece of the body, as sent over the wire."""

    def end(self) -> bytes:
        """Ends the body; returns the part that belongs in the Answer."""


class TransportFailure(Exception):  # noqa: N818  never leaves the package
    """No answer. `sent`: whether the platform may have received the request. `overdue`: the deadline ended it."""

    def __init__(self, what: str, *, sent: bool, overdue: bool = False) -> None:
        super().__init__(what)
        self.sent = sent
        self.overdue = overdue


class Sender:
    """Sends one request at a time in the calling thread, and hands the body of its answer to a receiver."""

    def __init__(self, transport: httpx.BaseTransport | None, timeout_s: float, tls: Mapping[str, Any]) -> None:
        self._given = transport
        self._made: httpx.HTTPTransport | None = None
        self._timeout_s = timeout_s
        self._tls = tls
        self._lock = threading.Lock()

    def send(self, request: Request, receiver: Receiver) -> Answer:
        """The answer; TransportFailure when there is none."""
        heads: list[httpx.Response] = []

        def slowness() -> str | None:
            return receiver.slowness if heads else None

        deadline = Deadline(request.deadline_s, head_s=request.head_s, head_came=lambda: bool(heads), slowness=slowness)
        try:
            if self._given is not None:
                return self._send(request, receiver, heads, {})
            with deadline:
                return self._send(request, receiver, heads, {"trace": deadline.see})
        except (httpx.TransportError, httpx.StreamError) as error:
            status = heads[0].status_code if heads else 0
            slow = deadline.slow or slowness()
            if slow is not None and status < 400:  # a redirect that drips is followed no more than a file
                raise TransportFailure(slow, sent=True, overdue=True) from None
            if status >= 300:  # a rejection counts by its head, whatever becomes of its body (interface.md 7)
                return _answer(heads[0], receiver, cut=True)
            raise _failure(error, overdue=deadline.passed) from None

    def close(self) -> None:
        """Closes the transport if it was made here."""
        if self._made is not None:
            self._made.close()

    def _send(
        self, request: Request, receiver: Receiver, heads: list[httpx.Response], extensions: dict[str, Any]
    ) -> Answer:
        response = self._transport().handle_request(_http(request, self._timeout_s, extensions))
        heads.append(response)
        try:
            receiver.begin(response.status_code, response.headers, framed=_is_framed(response))
            if not isinstance(response.stream, httpx.SyncByteStream):
                raise TypeError("the transport gave an asynchronous answer; give one of httpx.BaseTransport")
            try:
                for chunk in response.stream:
                    receiver.feed(chunk)
            except StopReceiving:
                pass
            return _answer(response, receiver)
        finally:
            response.close()

    def _transport(self) -> httpx.BaseTransport:
        if self._given is not None:
            return self._given
        with self._lock:
            if self._made is None:
                self._made = httpx.HTTPTransport(limits=NO_REUSE, **_tls(self._tls))
            return self._made


def _answer(response: httpx.Response, receiver: Receiver, *, cut: bool = False) -> Answer:
    """The answer with what was read of its body."""
    body = receiver.end()
    return Answer(response.status_code, response.headers, body, cut=cut or receiver.cut)


@functools.cache
def trusted_authorities() -> ssl.SSLContext:
    """The certificate authorities of SSL_CERT_FILE, else the bundled ones; read once a process, for that costs 20 ms of CPU."""
    return httpx.create_ssl_context()


def _tls(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a transport."""
    return {"verify": given.get("verify") or trusted_authorities(), "proxy": given.get("proxy")}


def _http(request: Request, timeout_s: float, extensions: dict[str, Any]) -> httpx.Request:
    """The request for a transport: addressed to the checked address where there is one, named and TLS-checked by its host."""
    url = httpx.URL(request.url)
    headers = {"Host": url.netloc.decode("ascii"), **request.headers, "Connection": "close"}
    if request.body_bytes or request.method in {"PUT", "POST"}:
        headers["Content-Length"] = str(request.body_bytes)
    if request.connect_to is not None:
        extensions = {**extensions, "sni_hostname": url.host}
        url = url.copy_with(host=request.connect_to)
    phases = dict.fromkeys(("connect", "read", "write", "pool"), timeout_s)
    body = (request.body,) if isinstance(request.body, bytes) else request.body
    return httpx.Request(
        request.method,
        url,
        headers=headers,
        stream=BodyStream(body) if request.body_bytes else BodyStream(()),
        extensions={"timeout": phases, **extensions},
    )


def _is_framed(response: httpx.Response) -> bool:
    """Whether the protocol shows the body's end; a transport in this process has no wire to be cut."""
    if "http_version" not in response.extensions:
        return True
    return "content-length" in response.headers or "chunked" in response.headers.get("transfer-encoding", "").lower()


def _failure(error: Exception, *, overdue: bool) -> TransportFailure:
    if overdue:
        return TransportFailure("no whole answer before the deadline", sent=True, overdue=True)
    # a LocalProtocolError quotes the header that it does not like
    reason = "" if isinstance(error, httpx.LocalProtocolError) else str(error).split("\n", 1)[0][:200]
    return TransportFailure(f"{type(error).__name__} {reason}".strip(), sent=not isinstance(error, _NEVER_LEFT))
