"""The HTTP/1.1 protocol of the receiver: uvicorn's, with an end to waiting, a number of connections, and strict reading."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from shelfsync.inbox.strict import StrictConnection

if TYPE_CHECKING:
    import asyncio

    from fastapi import FastAPI

    from shelfsync.inbox.places import Places
    from shelfsync.inbox.refusals import Refusals

HEAD_TIMEOUT_S = 5.0
HEAD_BYTES_MAX = 16 * 1024
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_INVALID = "Invalid HTTP request received."


class PatientConfig(uvicorn.Config):
    """With what all connections of one receiver share."""

    def __init__(self, app: FastAPI, places: Places, refusals: Refusals, **options: Any) -> None:
        super().__init__(app, http=PatientProtocol, **options)
        self.places = places
        self.refusals = refusals
        logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)


class PatientProtocol(H11Protocol):
    """A connection whose request head does not come is closed: uvicorn itself would wait for ever."""

    def __init__(self, config: PatientConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self.conn = StrictConnection(h11.SERVER, HEAD_BYTES_MAX)
        self._places = config.places
        self._refusals = config.refusals
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection owes a head from its first moment."""
        super().connection_made(transport)
        if self._places.take(self, self.client[0] if self.client else None):
            self._watch()
        else:
            self._refusals.note(503, "too many connections are at work", of="connection")
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Bytes of a head do not make it come later than the first of them allowed."""
        super().data_received(data)
        if self.cycle is not None:
            self._places.spoke(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is owed any more."""
        self._forget()
        self._places.leave(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Gives way to another connection."""
        self._forget()
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """The request cannot be read, or could be read in two ways."""
        self._refusals.note(400, "it is no HTTP request that can be read in one way only", of="connection")
        super().send_400_response(msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for another protocol is answered in this one, and costs no line of the log."""

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


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """What `Refusals` counts gets no line each."""
    return record.msg != _INVALID
