"""The HTTP/1.1 protocol of the receiver: uvicorn's, with timeouts, a connection limit, and strict parsing."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from shelfsync.receiver.secret import has_secret

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from fastapi import FastAPI
    from h11._connection import NEED_DATA, PAUSED

    from shelfsync.receiver.rejection import RejectedCalls

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SITE_PREFIX = 64
"""One caller can have a whole /64 of IPv6 addresses."""
_HEAD_ENDS = re.compile(rb"\n\r?\n")
_DOUBTFUL = re.compile(rb"(?<!\r)\n|\n[ \t]")
"""A line that ends without CR, or goes on in the next one."""


class Connection(Protocol):
    """A connection that counts towards the limit."""

    @property
    def has_secret(self) -> bool:
        """Whether its last request had the secret."""

    def abort(self) -> None:
        """Closes at once, without an answer."""


class _Yielding:
    """Connections that give way to a new one: strangers first, then idle callers, the oldest of each first.

    A stranger has sent no request with the secret. A caller has, and is idle when it has its answer.
    """

    def __init__(self) -> None:
        self.strangers: dict[Connection, None] = {}
        self.idle: dict[Connection, None] = {}

    def pop(self) -> Connection | None:
        """The next one, or None. A stranger that has meanwhile sent the secret is at work, and does not give way."""
        while self.strangers:
            connection = next(iter(self.strangers))
            del self.strangers[connection]
            if not connection.has_secret:
                return connection
        if not self.idle:
            return None
        connection = next(iter(self.idle))
        del self.idle[connection]
        return connection

    def remove(self, connection: Connection) -> None:
        self.strangers.pop(connection, None)
        self.idle.pop(connection, None)


class ConnectionLimit:
    """At the limit, closes a connection that needs no answer: of a caller without the secret, or idle after its answer.

    So a caller without the secret blocks only callers without the secret. `proxies` limit their own callers: their addresses may
    open as many connections as the receiver allows in all.
    """

    def __init__(self, most: int, per_address: int, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._per_address = per_address
        self._proxies = tuple(proxies)
        self._held: dict[Connection, str | None] = {}
        self._yielding = _Yielding()
        self._yielding_of: dict[str, _Yielding] = {}
        self._count: Counter[str] = Counter()

    def admit(self, connection: Connection, host: str | None) -> bool:
        """False: every connection is at work for a caller with the secret, so this one has to be closed."""
        address = self._address(host)
        if address is not None and self._count[address] >= self._per_address:
            if not self._make_room(self._yielding_of[address]):
                return False
        elif len(self._held) >= self._most and not self._make_room(self._yielding):
            return False
        self._held[connection] = address
        if address is not None:
            self._count[address] += 1
        for yielding in self._lists(connection):
            yielding.strangers[connection] = None
        return True

    def answered(self, connection: Connection) -> None:
        """A caller with the secret has its answer: the connection is idle."""
        for yielding in self._lists(connection):
            yielding.remove(connection)
            yielding.idle[connection] = None

    def at_work(self, connection: Connection) -> None:
        """An idle caller has sent the head of another request."""
        for yielding in self._lists(connection):
            yielding.idle.pop(connection, None)

    def release(self, connection: Connection) -> None:
        """The connection is closed. Harmless for a connection that was not admitted."""
        for yielding in self._lists(connection):
            yielding.remove(connection)
        address = self._held.pop(connection, None)
        if address is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address], self._yielding_of[address]

    def _make_room(self, yielding: _Yielding) -> bool:
        oldest = yielding.pop()
        if oldest is None:
            return False
        self.release(oldest)
        oldest.abort()
        return True

    def _lists(self, connection: Connection) -> list[_Yielding]:
        if connection not in self._held:
            return []
        address = self._held[connection]
        if address is None:
            return [self._yielding]
        return [self._yielding, self._yielding_of.setdefault(address, _Yielding())]

    def _address(self, host: str | None) -> str | None:
        """The address that identifies the caller; None for a proxy, or for a local socket without an address."""
        try:
            address = ipaddress.ip_address((host or "").partition("%")[0])
        except ValueError:
            return None
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if any(address in network for network in self._proxies):
            return None
        if isinstance(address, ipaddress.IPv6Address):
            return str(ipaddress.ip_network((address, _SITE_PREFIX), strict=False))
        return str(address)


class StrictConnection(h11.Connection):
    """Rejects bare LF, folded lines, Content-Length beside chunks, and fields after the last chunk."""

    def next_event(self) -> type[NEED_DATA | PAUSED] | h11.Event:
        """As h11. RemoteProtocolError also for requests that h11 would accept."""
        before = self.trailing_data[0]
        if self.their_state is h11.IDLE:
            end = _HEAD_ENDS.search(before)
            if _DOUBTFUL.search(before[: end.end()] if end else before):
                raise h11.RemoteProtocolError("a line of the head does not end in CRLF")
        event = super().next_event()
        if isinstance(event, h11.Request):
            if {name.lower() for name, _ in event.headers} >= {b"content-length", b"transfer-encoding"}:
                raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding together")
        elif isinstance(event, h11.EndOfMessage):
            after = len(self.trailing_data[0])
            consumed = before[: len(before) - after]
            if list(event.headers) or (consumed and not consumed.endswith(b"\r\n")):
                raise h11.RemoteProtocolError("the last chunk is followed by something else than CRLF")
        return event


HEAD_TIMEOUT_S = 5.0
HEAD_BYTES_MAX = 16 * 1024
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_INVALID = "Invalid HTTP request received."


class ReceiverConfig(uvicorn.Config):
    """The configuration of uvicorn, with the objects that all connections of one receiver share."""

    def __init__(
        self, app: FastAPI, connection_limit: ConnectionLimit, rejected_calls: RejectedCalls, **options: Any
    ) -> None:
        super().__init__(app, http=ReceiverProtocol, **options)
        self.connection_limit = connection_limit
        self.rejected_calls = rejected_calls
        logging.getLogger("uvicorn.error").addFilter(_is_not_counted)


class ReceiverProtocol(H11Protocol):
    """Closes a connection whose request head does not arrive in time. uvicorn itself would wait for ever."""

    def __init__(self, config: ReceiverConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self.conn = StrictConnection(h11.SERVER, HEAD_BYTES_MAX)
        self._connection_limit = config.connection_limit
        self._rejected_calls = config.rejected_calls
        self._head_timer: asyncio.TimerHandle | None = None

    @property
    def has_secret(self) -> bool:
        """Whether the app has found the secret in the last request."""
        return self.scope is not None and has_secret(self.scope)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The timeout of the first request head starts with the connection."""
        super().connection_made(transport)
        if self._connection_limit.admit(self, self.client[0] if self.client else None):
            self._watch()
        else:
            self._rejected_calls.note(503, "too many connections are open", of="connection")
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Further bytes of a head do not extend its timeout."""
        super().data_received(data)
        if not self._owes_head():
            self._connection_limit.at_work(self)
        self._watch()

    def on_response_complete(self) -> None:
        """An answered caller is idle until it sends the next head."""
        if self.has_secret:
            self._connection_limit.answered(self)
        super().on_response_complete()  # it may begin with a request that was sent ahead
        if not self._owes_head():
            self._connection_limit.at_work(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer and releases the connection."""
        self._forget()
        self._connection_limit.release(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Closes at once, in favour of another connection."""
        self._forget()
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """The request is invalid or ambiguous."""
        self._rejected_calls.note(400, "it is no valid, unambiguous HTTP request", of="connection")
        super().send_400_response(msg)

    def _unsupported_upgrade_warning(self) -> None:
        """A request for another protocol is answered in HTTP/1.1 and writes no log line."""

    def _owes_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        if not self._owes_head():
            self._forget()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def _forget(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self._owes_head():
            self.transport.write(_TOO_SLOW)
            self.transport.close()


def _is_not_counted(record: logging.LogRecord) -> bool:
    """False for calls that `RejectedCalls` counts: they get no log line each."""
    return record.msg != _INVALID
