"""Airflow's list of connections tests a connection without a port as one with port 0, and its API server rejects that.

Stored secrets are only tested against the stored host and port, and 0 is another port than none. For the connection types of this
provider 0 is taken out of the request: no server has that port, and the stored one, or none, counts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Application = Callable[[MutableMapping[str, Any], Receive, Callable[[Message], Awaitable[None]]], Awaitable[None]]

PATH = "/api/v2/connections/test"
BODY_BYTES_MAX = 256 * 1024
"""A larger body is passed on as it is."""


class BlankPort:
    """ASGI middleware around Airflow's API server."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """One request; every request but the test of a connection passes unchanged."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].endswith(PATH):
            scope, receive = await _without_port(scope, receive)
        await self._app(scope, receive, send)


async def _without_port(scope: MutableMapping[str, Any], receive: Receive) -> tuple[MutableMapping[str, Any], Receive]:
    messages = [await receive()]
    while messages[-1].get("more_body") and sum(len(one.get("body", b"")) for one in messages) <= BODY_BYTES_MAX:
        messages.append(await receive())
    changed = None
    if messages[-1]["type"] == "http.request" and not messages[-1].get("more_body"):
        changed = without_port_0(b"".join(one.get("body", b"") for one in messages))
    if changed is not None:
        messages = [{"type": "http.request", "body": changed, "more_body": False}]
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        scope = {**scope, "headers": [*headers, (b"content-length", str(len(changed)).encode())]}
    left = iter(messages)

    async def again() -> Message:
        return next(left, None) or await receive()

    return scope, again


def without_port_0(body: bytes) -> bytes | None:
    """The request for a test without its port; None when it is to stay as it is."""
    try:
        given = json.loads(body)
    except ValueError:
        return None
    if not isinstance(given, dict) or given.get("port") != 0 or str(given.get("conn_type")) not in _types():
        return None
    return json.dumps({name: value for name, value in given.items() if name != "port"}).encode()


def _types() -> set[str]:
    from shelfsync_airflow.provider import provider_info

    return {one["connection-type"] for one in provider_info()["connection-types"]}
