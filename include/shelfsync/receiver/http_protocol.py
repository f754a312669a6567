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

    def abort(self) -> None:
        """Closes at once, without an answer."""


class ConnectionLimit:
    """At the limit, closes the oldest connection that has never sent the head of a request.

    So a caller that opens idle connections blocks only itself. `proxies` limit their own callers: their addresses may open as
    many connections as the receiver allows in all.
    """

    def __init__(self, most: int, per_address: int, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._per_address = per_address
        self._proxies = tuple(proxies)
        self._held: dict[Connection, str | None] = {}
        self._silent: dict[Connection, None] = {}
        self._silent_of: dict[str, dict[Connection, None]] = {}
        self._count: Counter[str] = Counter()

    def admit(self, connection: Connection, host: str | None) -> bool:
        """False: the limit is reached and no idle connection can be closed, so the caller has to close this one."""
        address = self._address(host)
        if address is not None and self._count[address] >= self._per_address:
            if not self._make_room(self._silent_of.get(address)):
                return False
        elif len(self._held) >= self._most and not self._make_room(self._silent):
            return False
        self._held[connection] = address
        self._silent[connection] = None
        if address is not None:
            self._count[address] += 1
            self._silent_of.setdefault(address, {})[connection] = None
        return True

    def head_received(self, connection: Connection) -> None:
        """The head of a request has arrived: the connection is no longer idle."""
        if self._silent.pop(connection, self) is not self:
            self._forget_silent(connection)

    def release(self, connection: Connection) -> None:
        """The connection is closed. Harmless for a connection that was not admitted."""
        self.head_received(connection)
        address = self._held.pop(connection, None)
        if address is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address]

    def _make_room(self, silent: dict[Connection, None] | None) -> bool:
        if not silent:
            return False
        oldest = next(iter(silent))
        self.release(oldest)
        oldest.abort()
        return True

    def _forget_silent(self, connection: Connection) -> None:
        address = self._held.get(connection)
        if address is not None and (of_address := self._silent_of.get(address)) is not None:
            of_address.pop(connection, None)
            if not of_address:
                del self._silent_of[address]

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
        if self.cycle is not None:
            self._connection_limit.head_received(self)
        self._watch()

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

    def _watch(self) -> None:
        owes_head = self.cycle is None or self.cycle.response_complete
        if not owes_head:
            self._forget()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def _forget(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_TOO_SLOW)
            self.transport.close()


def _is_not_counted(record: logging.LogRecord) -> bool:
    """False for calls that `RejectedCalls` counts: they get no log line each."""
    return record.msg != _INVALID
