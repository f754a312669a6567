"""A chat that takes messages, and a chain with two routes to it."""

from __future__ import annotations

import pytest

from message_services import Chat


@pytest.fixture
def chat():
    chat = Chat()
    yield chat
    chat.close()


@pytest.fixture
def context(make_world, chat):
    """A context with two routes: one takes all at once, one only what no person has acknowledged after an hour."""
    routes = [
        {"name": "ops", "address": chat.address},
        {"name": "boss", "address": chat.address + "boss", "severities": ["severe"], "unacknowledged_minutes": 60},
    ]
    return make_world(alerts={"routes": routes}).app.context
