"""The monitor is called once, and what came back is told without the address."""

from __future__ import annotations

import contextlib

import pytest

from message_services import Chat
from shelfsync.alerts import heartbeat
from shelfsync.settings.section import ServiceAddress


@pytest.fixture
def monitor():
    service = Chat()
    yield service
    with contextlib.suppress(OSError):
        service.close()


def test_a_monitor_that_takes_the_call_is_no_news(monitor):
    assert heartbeat.call(ServiceAddress(f"http://{monitor.host}/beat-canary")) is None
    assert monitor.beats == 1


def test_a_refusal_and_an_unreachable_monitor_are_told_without_the_address(monitor):
    address = ServiceAddress(f"http://{monitor.host}/beat-canary")
    monitor.refuses = True
    assert heartbeat.call(address) == "status 503"
    monitor.close()
    told = heartbeat.call(address)
    assert told
    assert "beat-canary" not in told
