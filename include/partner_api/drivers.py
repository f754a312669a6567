"""The two drivers: they alone wait and send. Everything else is written once, as steps.

One request, one connection: at sixty requests a minute nothing is gained by reuse, and a connection that the server is just closing
would make a request ambiguous that need not be.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import socket
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from partner_api.receivers import StopReceiving
from partner_api.wire import Answer, BodyStream, Do, Request, Send, Steps, TransportFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partner_api.wire import Receiver

R = TypeVar("R")

_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


class SyncDriver:
    """Runs steps in the calling thread."""

    def __init__(self, transport: httpx.BaseTransport | None, timeout_s: float, tls: Mapping[str, Any]) -> None:
        self._given = transport
        self._made: httpx.HTTPTransport | None = None
        self._timeout_s = timeout_s
        self._tls = tls
        self._lock = threading.Lock()

    def run(self, steps: Steps[R]) -> R:
        """The result of the steps."""
        try:
            effect = next(steps)
            while True:
                try:
                    outcome = self._do(effect)
                except BaseException as error:  # noqa: BLE001  the steps decide; what they do not take comes back here
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)
        except StopIteration as done:
            result: R = done.value
            return result

    def close(self) -> None:
        """Closes the transport if it was made here."""
        if self._made is not None:
            self._made.close()

    def _do(self, effect: Send | Do) -> Any:
        if isinstance(effect, Do):
            outcome = effect.function(*effect.arguments)
            if inspect.iscoroutine(outcome):  # it has not run: a gate would have been passed by
                outcome.close()
                raise TypeError(f"{effect.function!r} is for AsyncPartnerClient: here nobody awaits it")
            return outcome
        watch = _Watch(effect.request.deadline_s) if self._given is None else None
        head = _Head()
        try:
            if watch is None:
                return self._send(effect, head, {})
            with watch:
                return self._send(effect, head, {"trace": watch.see})
        except (httpx.TransportError, httpx.StreamError) as error:
            if head.refuses:
                return head.answer(effect.receiver, cut=True)
            raise _failure(error, overdue=watch is not None and watch.fired) from None

    def _send(self, effect: Send, head: _Head, extensions: dict[str, Any]) -> Answer:
        response = self._transport().handle_request(_http(effect.request, self._timeout_s, extensions))
        receiver = effect.receiver
        try:
            head.came(response)
            receiver.begin(response.status_code, response.headers, framed=_is_framed(response))
            if not isinstance(response.stream, httpx.SyncByteStream):
                raise TypeError("the transport gave an asynchronous answer; AsyncPartnerClient is for that")
            try:
                for chunk in response.stream:
                    receiver.feed(chunk)
            except StopReceiving:
                pass
            return head.answer(receiver)
        finally:
            response.close()

    def _transport(self) -> httpx.BaseTransport:
        if self._given is not None:
            return self._given
        with self._lock:
            if self._made is None:
                self._made = httpx.HTTPTransport(limits=NO_REUSE, **_tls(self._tls))
            return self._made


class AsyncDriver:
    """Runs steps in an event loop; what may block goes to a thread."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None, timeout_s: float, tls: Mapping[str, Any]) -> None:
        self._given = transport
        self._made: httpx.AsyncHTTPTransport | None = None
        self._timeout_s = timeout_s
        self._tls = tls

    async def run(self, steps: Steps[R]) -> R:
        """The result of the steps."""
        try:
            effect = next(steps)
            while True:
                try:
                    outcome = await self._do(effect)
                except BaseException as error:  # noqa: BLE001  the steps decide; what they do not take comes back here
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)
        except StopIteration as done:
            result: R = done.value
            return result

    async def close(self) -> None:
        """Closes the transport if it was made here."""
        if self._made is not None:
            await self._made.aclose()

    async def _do(self, effect: Send | Do) -> Any:
        if isinstance(effect, Do):
            if inspect.iscoroutinefunction(effect.function):
                return await effect.function(*effect.arguments)
            outcome = await asyncio.to_thread(effect.function, *effect.arguments)
            return await outcome if inspect.isawaitable(outcome) else outcome
        head = _Head()
        try:
            async with asyncio.timeout(effect.request.deadline_s):
                return await self._send(effect, head)
        except (TimeoutError, httpx.TransportError, httpx.StreamError) as error:
            if head.refuses:
                return head.answer(effect.receiver, cut=True)
            if isinstance(error, TimeoutError):
                raise TransportFailure(f"no whole answer within {effect.request.deadline_s:g} s", sent=True) from None
            raise _failure(error, overdue=False) from None

    async def _send(self, effect: Send, head: _Head) -> Answer:
        response = await (await self._transport()).handle_async_request(_http(effect.request, self._timeout_s, {}))
        receiver = effect.receiver
        try:
            head.came(response)
            receiver.begin(response.status_code, response.headers, framed=_is_framed(response))
            if not isinstance(response.stream, httpx.AsyncByteStream):
                raise TypeError("the transport gave a synchronous answer; PartnerClient is for that")
            try:
                async for chunk in response.stream:
                    if receiver.blocking:
                        await asyncio.to_thread(receiver.feed, chunk)
                    else:
                        receiver.feed(chunk)
            except StopReceiving:
                pass
            return head.answer(receiver)
        finally:
            await response.aclose()

    async def _transport(self) -> httpx.AsyncBaseTransport:
        if self._given is not None:
            return self._given
        if self._made is None:
            tls = await asyncio.to_thread(_tls, self._tls)  # reading the certificate authorities blocks
            if self._made is None:
                self._made = httpx.AsyncHTTPTransport(limits=NO_REUSE, **tls)
        return self._made


class _Head:
    """An answer's head, as soon as it is there: a refusal is one by its head, whatever becomes of its body (interface.md 7)."""

    def __init__(self) -> None:
        self._status = 0
        self._headers = httpx.Headers()

    def came(self, response: httpx.Response) -> None:
        """Remembers it."""
        self._status, self._headers = response.status_code, response.headers

    @property
    def refuses(self) -> bool:
        """Whether it says that the request was not carried out as asked, so that nothing hangs on the rest."""
        return self._status >= 300

    def answer(self, receiver: Receiver, *, cut: bool = False) -> Answer:
        """The answer with what was read of its body."""
        body = receiver.end()
        return Answer(self._status, self._headers, body, cut=cut or receiver.cut)


class _Watch:
    """Ends a request at its deadline however slowly its head drips: it shuts the socket down under the reading thread."""

    def __init__(self, deadline_s: float) -> None:
        self._timer = threading.Timer(deadline_s, self._cut)
        self._timer.daemon = True
        self._socket: socket.socket | None = None
        self.fired = False

    def see(self, event: str, info: Mapping[str, Any]) -> None:
        """A trace callback of httpcore: the connection just made is the one to cut."""
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            stream = info.get("return_value")
            self._socket = stream.get_extra_info("socket") if stream is not None else None

    def _cut(self) -> None:
        self.fired = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it was closed meanwhile
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _tls(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a transport of our own is made of; the certificate authorities are those of SSL_CERT_FILE, else the bundled ones."""
    return {"verify": given.get("verify") or httpx.create_ssl_context(), "proxy": given.get("proxy")}


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
        return TransportFailure("no whole answer before the deadline", sent=True)
    # a LocalProtocolError quotes the header that it does not like
    said = "" if isinstance(error, httpx.LocalProtocolError) else str(error).split("\n", 1)[0][:200]
    return TransportFailure(f"{type(error).__name__} {said}".strip(), sent=not isinstance(error, _NEVER_LEFT))
