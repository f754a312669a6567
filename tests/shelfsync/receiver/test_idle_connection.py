"""Whose connection stays open after an answer."""

from __future__ import annotations

import asyncio

import pytest

from shelfsync.receiver.idle_connection import CloseAfterAnswer
from shelfsync.receiver.secret import note_secret


def _headers(status, *, with_secret):
    sent = []
    scope = {"type": "http"}
    if with_secret:
        note_secret(scope)

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})

    async def send(message):
        sent.append(message)

    async def run():
        await CloseAfterAnswer(app)(scope, None, send)

    asyncio.run(run())
    return dict(sent[0]["headers"])


@pytest.mark.parametrize(
    ("status", "with_secret", "closed"), [(200, True, False), (200, False, True), (401, False, True), (503, True, True)]
)
def test_only_a_success_for_a_caller_with_the_secret_keeps_it_open(status, with_secret, closed):
    assert (_headers(status, with_secret=with_secret).get(b"connection") == b"close") is closed
