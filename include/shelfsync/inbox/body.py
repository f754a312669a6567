"""Request bodies within their bounds: size, time, encoding."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request


class RefusedError(Exception):
    """The request is answered with this status and not read on. The reason tells the sender what is wrong, not what it sent."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


async def read_body(request: Request, *, bytes_max: int, timeout_s: float) -> bytes:
    """The whole body, never more than `bytes_max` of it in memory, within `timeout_s` from first to last byte."""
    if request.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise RefusedError(415, "compressed bodies are not read")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > bytes_max:
        raise too_large(bytes_max)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_s):
            async for part in request.stream():
                size += len(part)
                if size > bytes_max:
                    raise too_large(bytes_max)
                parts.append(part)
    except TimeoutError:
        raise RefusedError(408, f"the body did not come within {timeout_s:g} s") from None
    except ClientDisconnect:
        raise RefusedError(400, "the body ended early") from None
    return b"".join(parts)


def too_large(bytes_max: int) -> RefusedError:
    """What a body over its limit is answered with."""
    return RefusedError(413, f"at most {bytes_max} bytes are read")
