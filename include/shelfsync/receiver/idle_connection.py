"""Whose connection stays open after an answer, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.receiver.secret import has_secret

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

IDLE_S = 30
"""So long a connection waits for the next request of a caller with the secret."""


class CloseAfterAnswer:
    """Keeps a connection open only after a success for a caller with the secret.

    So a caller without the secret holds no connection after its answer, and the rest of a rejected body is not read.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and not (message["status"] < 400 and has_secret(scope)):
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receive, answer)
