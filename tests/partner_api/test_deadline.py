"""A request ends at its deadline, however slowly its answer drips."""

from __future__ import annotations

import time

import pytest

from log_download import fetch
from partner_api import DownloadLimits
from partner_api.errors import DownloadBrokenError, DownloadSlowError, UnavailableError


def drip(head):
    """One byte now and then, for ever: `head`: already within the answer's head."""

    def script(seen, send):
        send(b"HTTP/1.1 200 OK\r\n" + (b"" if head else b"Content-Length: 100000\r\n\r\n"))
        ends_at = time.monotonic() + 60
        while time.monotonic() < ends_at:
            send(b"X")
            time.sleep(0.02)

    return script


@pytest.mark.parametrize("head", [True, False])
def test_a_dripping_answer_ends_at_the_deadline(tools, head):
    server = tools.platform(drip(head))
    limits = DownloadLimits(total_s=0.3)
    began_s = time.monotonic()
    with pytest.raises((DownloadBrokenError, UnavailableError)):
        fetch(tools.client(server, limits=limits, timeout_s=0.5, attempts_max=1), server)
    assert time.monotonic() - began_s < 30


def test_a_head_that_drips_has_as_long_as_a_window_and_is_tried_once(tools):
    server = tools.platform(drip(head=True))
    limits = DownloadLimits(speed_grace_s=0.1, speed_window_s=0.3)
    began_s = time.monotonic()
    with pytest.raises(DownloadSlowError, match="no answer came within"):
        fetch(tools.client(server, limits=limits), server)
    assert time.monotonic() - began_s < 20
    assert len(server.of("GET")) == 1
