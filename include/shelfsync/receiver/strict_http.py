"""Strict parsing of HTTP/1.1: what a proxy may read in another way than h11 is rejected, so that no request is smuggled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import h11

if TYPE_CHECKING:
    from h11._connection import NEED_DATA, PAUSED

_HEAD_ENDS = re.compile(rb"\n\r?\n")
_DOUBTFUL = re.compile(rb"(?<!\r)\n|\n[ \t]")
"""A line that ends without CR, or goes on in the next one."""


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
