"""The HTTP/1.1 protocol of the receiver: uvicorn's, with timeouts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from shelfsync.receiver.secret import has_secret
from shelfsync.receiver.strict_http import StrictConnection

if TYPE_CHECKING:
    import asyncio

    from fastapi import FastAPI

    from shelfsync.receiver.connection_limit import ConnectionLimit
    from shelfsync.receiver.rejected_calls import RejectedCalls

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
