"""Request bodies within limits of size, time and encoding; and the count of the calls that were rejected.

The log has the first rejected call of a status at once, and further ones as a number once a minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from shelfsync import metrics
from shelfsync.errors import Alarm

if TYPE_CHECKING:
    from starlette.requests import Request

log = logging.getLogger(__name__)

EVERY_S = 60.0


class RequestRejectedError(Exception):
    """The request is answered with this status and not read on. The reason names the error and never quotes the request."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


async def read_body(request: Request, *, max_bytes: int, timeout_s: float) -> bytes:
    """The whole body: at most `max_bytes` bytes in memory, within `timeout_s` seconds. RequestRejectedError: 400, 408, 413 or 415."""
    if request.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise RequestRejectedError(415, "compressed bodies are not read")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise too_large(max_bytes)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_s):
            async for part in request.stream():
                size += len(part)
                if size > max_bytes:
                    raise too_large(max_bytes)
                parts.append(part)
    except TimeoutError:
        raise RequestRejectedError(408, f"the body did not arrive within {timeout_s:g} s") from None
    except ClientDisconnect:
        raise RequestRejectedError(400, "the body ended early") from None
    return b"".join(parts)


def too_large(max_bytes: int) -> RequestRejectedError:
    """The rejection of a body above its limit."""
    return RequestRejectedError(413, f"at most {max_bytes} bytes are read")


@dataclass
class _Kind:
    silent_until_s: float = 0.0
    waiting: int = 0
    reason: str = ""


class RejectedCalls:
    """Counts every rejected call by its status. The metrics have each call, the log one line a minute and status."""

    def __init__(self, *, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._kinds: dict[int, _Kind] = {}

    def note(self, status: int, reason: str, *, of: str = "inbox") -> None:
        """Counts one call. `reason`: the error, without any content of the call. `of`: the prefix of the metric."""
        metrics.count(f"{of}.rejected.{status}")
        kind = self._kinds.setdefault(status, _Kind())
        kind.waiting += 1
        kind.reason = f"{of}: {reason}"
        if time.monotonic() >= kind.silent_until_s:
            self._report(status, kind)

    def close(self) -> None:
        """Logs the calls that are not logged yet."""
        for status, kind in self._kinds.items():
            if kind.waiting:
                self._report(status, kind)

    def _report(self, status: int, kind: _Kind) -> None:
        text = f"inbox: rejected {kind.waiting} calls with {status}, the last for {kind.reason}"
        log.warning("%s", Alarm.CALLS_REJECTED.line(text))
        kind.waiting = 0
        kind.silent_until_s = time.monotonic() + self._every_s
