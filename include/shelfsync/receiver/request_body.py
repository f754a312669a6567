"""Request bodies within limits of size, time and encoding."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request

BODY_TIMEOUT_S = 8.0
"""The platform waits ten seconds for an answer."""
PICKING_BYTES_MAX = 1024 * 1024
"""Of one picking result. The limits of events are settings."""


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
