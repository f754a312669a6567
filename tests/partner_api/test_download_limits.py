"""The ceilings of one log or export in bytes and time, and its least speed."""

from __future__ import annotations

import functools
import gzip
import io
import time

import pytest

from log_download import LOG, RESULTS, fetch
from partner_api import DownloadLimits
from partner_api.errors import DownloadBrokenError, DownloadSlowError, DownloadTooLargeError


@functools.cache
def bomb():
    return gzip.compress(bytes(200 * 1024 * 1024), compresslevel=9)


@pytest.mark.slow
@pytest.mark.parametrize("coded", [True, False])
def test_a_gzip_bomb_is_stopped_early_with_flat_memory(tools, coded):
    import resource

    headers = {"content_encoding": "gzip"} if coded else {}
    server = tools.platform(tools.http(200, bomb(), **headers))
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    class Nothing(io.RawIOBase):
        taken = 0

        def write(self, data):
            self.taken += len(data)
            return len(data)

    file = Nothing()
    with pytest.raises(DownloadTooLargeError, match="times its size"):
        tools.client(server).download(server.base_url + f"{RESULTS}/log.csv", file)
    assert file.taken <= 41 * 1024 * 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 64 * 1024


@pytest.mark.parametrize("packed", [True, False])
def test_a_size_limit_counts_expanded_bytes(tools, packed):
    server = tools.platform(tools.http(200, gzip.compress(LOG) if packed else LOG))
    message = "expands to more" if packed else f"{len(LOG)} bytes are announced"
    with pytest.raises(DownloadTooLargeError, match=message):
        fetch(tools.client(server, limits=DownloadLimits(max_bytes=len(LOG) - 1)), server)
    assert fetch(tools.client(server, limits=DownloadLimits(max_bytes=len(LOG))), server)[1] == LOG


def test_a_download_stops_at_its_time_limit(tools):
    clock = tools.QuickClock()

    def late(seen, send):
        send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LOG) + LOG[:99])
        clock.slept.append(601.0)
        send(LOG[99:])

    server = tools.platform(late)
    with pytest.raises(DownloadBrokenError, match="not done after 600 s"):
        fetch(tools.client(server, clock=clock), server)


def test_a_size_limit_holds_without_an_announced_length(tools):
    def endless(seen, send):
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            send(b"10000\r\n" + bytes(65536) + b"\r\n")

    server = tools.platform(endless)
    with pytest.raises(DownloadTooLargeError):
        fetch(tools.client(server, limits=DownloadLimits(max_bytes=1_000_000)), server)


@pytest.mark.parametrize("status", [200, 403])
def test_a_file_slower_than_the_least_speed_ends_after_one_window(tools, status):
    clock = tools.QuickClock()

    def drips(seen, send):
        send(b"HTTP/1.1 %d X\r\nContent-Length: 100000\r\n\r\n" % status)
        for _ in range(60):
            clock.slept.append(1.0)
            send(b"X")
            time.sleep(0.01)

    server = tools.platform(drips)
    began_s = clock.monotonic_s()
    with pytest.raises(DownloadSlowError, match="least speed is 1000 bytes a second"):
        fetch(tools.client(server, clock=clock), server)
    assert 30 <= clock.monotonic_s() - began_s < 45
    assert len(server.of("GET")) == 1


def test_a_file_at_the_least_speed_comes_whole(tools):
    clock = tools.QuickClock()

    def slowly(seen, send):
        send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LOG))
        for at in range(0, len(LOG), 1500):
            clock.slept.append(1.0)
            send(LOG[at : at + 1500])
            time.sleep(0.01)

    server = tools.platform(slowly)
    assert fetch(tools.client(server, clock=clock), server)[1] == LOG


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

NO_FILE_COMES = {
    "the extension of a chunk": (CHUNKED + b"4\r\nsku,\r\n5;", b"x"),
    "headers behind the last chunk": (CHUNKED + b"4\r\nsku,\r\n0\r\n", b"X-More: 1\r\n"),
    "half a gzip's name": (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n\x1f\x8b\x08\x08" + bytes(6), b"n"),
    "nothing behind the first bytes": (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nsku,", b""),
    "nothing behind the head": (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b""),
    "the body of a redirect": (b"HTTP/1.1 302 Found\r\nLocation: log.csv\r\nContent-Length: 9999\r\n\r\n", b"x"),
}


@pytest.mark.parametrize(("head", "piece"), NO_FILE_COMES.values(), ids=NO_FILE_COMES)
def test_whatever_drips_instead_of_the_file_ends_after_one_window(tools, head, piece):
    def script(seen, send):
        send(head)
        ends_at = time.monotonic() + 60
        while time.monotonic() < ends_at and not server.released.is_set():
            send(piece)
            time.sleep(0.02)

    server = tools.platform(script)
    limits = DownloadLimits(speed_grace_s=0.1, speed_window_s=0.3)
    began_s = time.monotonic()
    with pytest.raises(DownloadSlowError, match="the least speed is 1000 bytes a second"):
        fetch(tools.client(server, limits=limits, timeout_s=30), server)
    assert time.monotonic() - began_s < 20
    assert len(server.of("GET")) == 1


def test_a_caller_may_lower_the_time_of_one_download(tools):
    """A host that is just fast enough does not hold a small file's run for the time that a large one may take."""
    clock = tools.QuickClock()

    def slowly(seen, send):
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        for _ in range(600):
            clock.slept.append(1.0)
            send(b"x" * 1500)
            time.sleep(0.005)

    server = tools.platform(slowly)
    began_s = clock.monotonic_s()
    with pytest.raises(DownloadSlowError, match="not done after 60 s"):
        tools.client(server, clock=clock).download(f"{server.base_url}{RESULTS}/log.csv", io.BytesIO(), max_s=60)
    assert 60 <= clock.monotonic_s() - began_s < 70


def test_a_caller_may_lower_the_size_limit_of_one_download(tools):
    server = tools.platform(tools.http(200, LOG))
    with pytest.raises(DownloadTooLargeError, match=f"{len(LOG)} bytes are announced, 99 are allowed"):
        tools.client(server).download(f"{server.base_url}{RESULTS}/log.csv", io.BytesIO(), max_bytes=99)


def test_a_stalled_file_ends_at_the_read_timeout(tools):
    def stall(seen, send):
        send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LOG) + LOG[:-500])
        server.released.wait(10)

    server = tools.platform(stall)
    with pytest.raises(DownloadBrokenError):
        fetch(tools.client(server, timeout_s=0.2), server)
