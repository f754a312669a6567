"""An ASGI app inside Airflow's API server that is created at its first call.

A plugin is imported by every process of Airflow, and must cost nothing there. While the settings are wrong every call is answered 503,
and the settings are read again every half minute.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from fastapi import FastAPI

    Scope = MutableMapping[str, Any]

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 30.0


class MountedApp:
    """`make` opens the app, in a thread; `loss` is the log line about what is missing while it cannot be created."""

    def __init__(self, make: Callable[[], FastAPI], *, loss: str, answer: dict[str, str]) -> None:
        self._make = make
        self._loss = loss
        self._answer = json.dumps(answer).encode()
        self._broken_until_s = 0.0
        self._making = asyncio.Lock()
        self.app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        """One request; websockets are not supported."""
        if scope["type"] != "http":
            return
        app = self.app or await self._made()
        if app is None:
            await self._answer_not_now(send)
        else:
            await app(scope, receive, send)

    async def _made(self) -> FastAPI | None:
        from shelfsync.errors import ShelfsyncError

        async with self._making:
            if self.app is None and time.monotonic() >= self._broken_until_s:
                try:
                    self.app = await asyncio.to_thread(self._make)
                except ShelfsyncError as error:
                    self._broken_until_s = time.monotonic() + LOOK_AGAIN_S
                    log.error("%s: %s", self._loss, error)  # noqa: TRY400  one line is the whole message
            return self.app

    async def _answer_not_now(self, send: Callable[[Any], Awaitable[None]]) -> None:
        headers = [(b"content-type", b"application/json"), (b"retry-after", b"60"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": self._answer})
