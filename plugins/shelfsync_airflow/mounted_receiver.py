"""The webhook receiver inside Airflow's API server, for an installation on one machine.

The API server also serves the workers, so a platform on the public internet should call the receiver that runs by itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Scope = MutableMapping[str, Any]
    App = Callable[[Scope, Any, Any], Awaitable[None]]

log = logging.getLogger(__name__)

PREFIX = "/shelfsync"
LOOK_AGAIN_S = 30.0


class MountedReceiver:
    """An ASGI app that becomes the receiver at the first call: a plugin is imported by every process, and must cost nothing there.

    While the settings are wrong every call is answered 503, and the settings are read again every half minute.
    """

    def __init__(self) -> None:
        self._app: App | None = None
        self._broken_until_s = 0.0
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        app = self._app or await self._made()
        if app is None:
            await _answer_not_now(send)
        else:
            await app(scope, receive, send)

    async def _made(self) -> App | None:
        from shelfsync.errors import ConfigurationError

        async with self._making:
            if self._app is None and time.monotonic() >= self._broken_until_s:
                try:
                    self._app = await asyncio.to_thread(_receiver)
                except ConfigurationError as error:
                    self._broken_until_s = time.monotonic() + LOOK_AGAIN_S
                    log.error("inbox: no event can be received: %s", error)  # noqa: TRY400  one line is all there is to say
            return self._app


def _receiver() -> App:
    from shelfsync.inbox.server import receiver_app
    from shelfsync_airflow.house import WEBHOOK, house_settings

    return receiver_app(house_settings(WEBHOOK))


async def _answer_not_now(send: Any) -> None:
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"60"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send(
        {"type": "http.response.body", "body": b'{"status": "refused", "reason": "the receiver is not configured"}'}
    )
