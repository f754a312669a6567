from __future__ import annotations

import functools
import gzip
import hashlib
import io
import time
import zlib

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from partner_api import DownloadLimits, PartnerClient, StaticToken
from partner_api.errors import (
    BlockedError,
    DownloadBrokenError,
    DownloadSlowError,
    DownloadTooLargeError,
    LinkExpiredError,
    LinkNotAllowedError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.receivers import Expander
from partner_api.sender import BodyStream

RESULTS = "/v2/chains/demo-chain/catalog/downloads"
LOG = b'"sku","state","errors"\n' + b"".join(b'"%d","success","null"\n' % number for number in range(2000))


def fetch(client, server, path=f"{RESULTS}/log.csv"):
    file = io.BytesIO()
    done = client.download(server.base_url + path, file)
    return done, file.getvalue()


def test_a_log_is_fetched_with_the_token_and_hashed(tools):
    server = tools.platform(tools.http(200, LOG, content_type="text/csv"))
    done, content = fetch(tools.client(server), server)
    assert content == LOG
    assert (done.bytes, done.wire_bytes, done.sha256) == (len(LOG), len(LOG), hashlib.sha256(LOG).hexdigest())
    assert server.of("GET")[0].headers["authorization"] == "Bearer canary-token-1"


def test_a_presigned_link_gets_no_token_and_costs_none(tools):
    storage = tools.server(lambda seen, send: send(tools.http(200, LOG)))
    server = tools.platform(tools.http(200, b"x"))
    client = tools.client(server, download_hosts=[f"localhost:{storage.port}"], private_hosts=["localhost"])
    file = io.BytesIO()
    client.download(f"http://localhost:{storage.port}/b/log.csv?X-Amz-Signature=canary-signature", file)
    assert file.getvalue() == LOG
    assert "authorization" not in storage.seen[0].headers
    assert storage.seen[0].target.endswith("?X-Amz-Signature=canary-signature")
    assert server.connections == 0


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate"])
def test_a_compressed_answer_is_expanded(tools, coding):
    packed = zlib.compress(LOG) if coding == "deflate" else gzip.compress(LOG)
    server = tools.platform(tools.http(200, packed, content_encoding=coding))
    done, content = fetch(tools.client(server), server)
    assert content == LOG
    assert (done.bytes, done.wire_bytes) == (len(LOG), len(packed))


@pytest.mark.parametrize("content", [LOG, b"x", b"sku\n"])
def test_a_file_that_is_gzip_itself_is_expanded_even_inside_a_compressed_answer(tools, content):
    inner = gzip.compress(content)
    server = tools.platform(tools.http(200, inner), tools.http(200, gzip.compress(inner), content_encoding="gzip"))
    client = tools.client(server)
    assert fetch(client, server)[1] == content
    assert fetch(client, server)[1] == content


def test_gzip_of_several_members_is_read_to_its_end(tools):
    server = tools.platform(tools.http(200, gzip.compress(LOG[:999]) + gzip.compress(LOG[999:]) + b"\0" * 512))
    assert fetch(tools.client(server), server)[1] == LOG


@given(st.lists(st.binary(max_size=200), max_size=5), st.integers(1, 97))
def test_the_expander_returns_the_packed_bytes_however_they_are_cut(parts, size):
    packed = b"".join(gzip.compress(part) for part in parts)
    expander = Expander()
    out = b"".join(piece for at in range(0, len(packed), size) for piece in expander.feed(packed[at : at + size]))
    assert out == b"".join(parts)
    assert expander.complete


@given(st.binary(min_size=1, max_size=300), st.integers(1, 10_000))
def test_the_expander_detects_a_missing_end(content, cut):
    packed = gzip.compress(content)
    expander = Expander()
    for _ in expander.feed(packed[: max(1, len(packed) - 1 - cut % len(packed))]):
        pass
    assert not expander.complete


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


@pytest.mark.parametrize("announced", [b"26", b"28"])
def test_a_transport_that_does_not_count_cannot_pass_a_file_of_another_length(tools, announced):
    content = b"sku,state,errors\nA,success,"

    def answer(request):
        return httpx.Response(200, headers={b"content-length": announced}, stream=BodyStream([content]))

    client = PartnerClient(
        "https://p.example", "demo-chain", StaticToken(SecretStr("t")), transport=httpx.MockTransport(answer)
    )
    with pytest.raises(DownloadBrokenError, match="27 bytes came where"):
        client.download(f"https://p.example{RESULTS}/log.csv", io.BytesIO())


def test_a_size_limit_holds_without_an_announced_length(tools):
    def endless(seen, send):
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            send(b"10000\r\n" + bytes(65536) + b"\r\n")

    server = tools.platform(endless)
    with pytest.raises(DownloadTooLargeError):
        fetch(tools.client(server, limits=DownloadLimits(max_bytes=1_000_000)), server)


def cut_length(seen, send):
    send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + LOG[:900])


def cut_chunks(seen, send):
    send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n384\r\n" + LOG[:900] + b"\r\n")


def cut_gzip(seen, send):
    packed = gzip.compress(LOG)[:-5]
    send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)


def damaged_gzip(seen, send):
    packed = bytearray(gzip.compress(LOG))
    packed[-6] ^= 255
    send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(packed) + bytes(packed))


def unframed(seen, send):
    send(b"HTTP/1.0 200 OK\r\nContent-Type: text/csv\r\n\r\n" + LOG)


def empty(seen, send):
    send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def empty_gzip(seen, send):
    packed = gzip.compress(b"")
    send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)


def part(seen, send):
    send(b"HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\nsku")


@pytest.mark.parametrize("script", [cut_length, cut_chunks, cut_gzip, damaged_gzip, unframed, empty, empty_gzip, part])
def test_an_incomplete_file_is_an_error(tools, script):
    server = tools.platform(script)
    with pytest.raises((DownloadBrokenError, UnavailableError)):
        fetch(tools.client(server), server)


def test_a_file_cut_after_it_began_is_not_restarted(tools):
    server = tools.platform(cut_length, tools.http(200, LOG))
    clock = tools.QuickClock()
    with pytest.raises(DownloadBrokenError, match="lost in the middle"):
        fetch(tools.client(server, clock=clock), server)
    assert len(server.of("GET")) == 1
    assert clock.slept == []


def test_a_connection_lost_before_the_first_byte_is_retried(tools):
    server = tools.platform(lambda seen, send: None, tools.http(503, b""), tools.http(200, LOG))
    assert fetch(tools.client(server), server)[1] == LOG


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


def test_a_head_that_drips_has_as_long_as_a_window_and_is_tried_once(tools):
    server = tools.platform(drip(head=True))
    limits = DownloadLimits(speed_grace_s=0.1, speed_window_s=0.3)
    began_s = time.monotonic()
    with pytest.raises(DownloadSlowError, match="no answer came within"):
        fetch(tools.client(server, limits=limits), server)
    assert time.monotonic() - began_s < 20
    assert len(server.of("GET")) == 1


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


@pytest.mark.parametrize(
    "page",
    [
        ("<!DOCTYPE html><html>Sign in", {}),
        ("\ufeff\n  <html lang=en>", {}),
        ("oops, an error", {"content_type": "text/html; charset=utf-8"}),
    ],
)
def test_a_web_page_with_status_200_is_no_file(tools, page):
    text, headers = page
    server = tools.platform(tools.http(200, text, **headers))
    file = io.BytesIO()
    with pytest.raises(UnexpectedAnswerError, match="web page"):
        tools.client(server).download(server.base_url + f"{RESULTS}/log.csv", file)
    assert file.getvalue() == b""


def test_an_unknown_encoding_is_an_error(tools):
    server = tools.platform(tools.http(200, b"xxxx", content_encoding="br"))
    with pytest.raises(UnexpectedAnswerError, match="'br'"):
        fetch(tools.client(server), server)


@pytest.mark.parametrize("status", [403, 404, 410])
def test_an_expired_link_raises_its_error_at_once(tools, status):
    server = tools.platform(tools.http(status, {"code": "GONE", "message": "expired"}))
    with pytest.raises(LinkExpiredError, match="new link") as caught:
        fetch(tools.client(server), server)
    assert caught.value.status == status
    assert len(server.of("GET")) == 1


def test_a_401_renews_the_token_once_and_then_the_link_counts_as_expired(tools):
    server = tools.platform(tools.http(401, {}), tools.http(200, LOG))
    assert fetch(tools.client(server), server)[1] == LOG
    server = tools.platform(tools.http(401, {}))
    with pytest.raises(LinkExpiredError):
        fetch(tools.client(server), server)
    assert len(server.of("GET")) == 2


def test_a_block_page_of_the_platform_is_no_expired_link(tools):
    server = tools.platform(tools.http(403, "<html>blocked"))
    with pytest.raises(BlockedError):
        fetch(tools.client(server), server)


def redirect(location):
    return b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location.encode("latin-1") + b"\r\n\r\n"


def test_a_redirect_on_the_same_host_is_followed_and_passes_every_check_again(tools):
    asked = []
    server = tools.platform(redirect(f"{RESULTS}/moved/log.csv"), redirect("log2.csv?a=b"), tools.http(200, LOG))

    def resolve(host, port):
        asked.append((host, port))
        return ["127.0.0.1"]

    assert fetch(tools.client(server, resolve=resolve), server)[1] == LOG
    names = ["log.csv", "moved/log.csv", "moved/log2.csv?a=b"]
    assert [one.target for one in server.of("GET")] == [f"{RESULTS}/{name}" for name in names]
    assert asked == [("127.0.0.1", server.port)] * 3


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{c}/x",
        "http://127.0.0.1:{c}/x",
        "//127.0.0.1:{c}/x",
        "https://127.0.0.1:{p}/x",
        "http://allowed.example:{c}/x",
        "http://user@127.0.0.1:{p}/x",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "http://[::1",
        "\\\\127.0.0.1:{c}\\x",
        "http://127.0.0.1:{p}@127.0.0.1:{c}/",
        "/v2/chains/demo-chain/orders/1",
    ],
)
def test_a_redirect_to_another_host_is_not_followed_even_to_an_allowed_one(tools, location):
    canary = tools.server(lambda seen, send: send(tools.http(200, LOG)))
    server = tools.platform(lambda seen, send: send(redirect(location.format(c=canary.port, p=server.port))))
    client = tools.client(
        server,
        download_hosts=[f"allowed.example:{canary.port}"],
        private_hosts=["allowed.example"],
        resolve=lambda host, port: ["127.0.0.1"],
    )
    with pytest.raises(LinkNotAllowedError):
        fetch(client, server)
    assert canary.connections == 0
    assert len(server.of("GET")) == 1


def test_redirects_in_a_circle_end(tools):
    server = tools.platform(redirect(f"{RESULTS}/log.csv"))
    with pytest.raises(DownloadBrokenError, match="redirects more than 3 times"):
        fetch(tools.client(server), server)
    assert len(server.of("GET")) == 4


def test_a_redirect_of_an_ordinary_call_is_not_followed(tools):
    canary = tools.server(lambda seen, send: send(tools.http(200, {"products": []})))
    server = tools.platform(redirect(f"{canary.base_url}/x"))
    with pytest.raises(UnexpectedAnswerError, match="base address"):
        tools.client(server).list_catalog("v")
    assert canary.connections == 0


def test_a_full_disk_reaches_the_caller_as_it_is(tools):
    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(28, "No space left on device")

    server = tools.platform(tools.http(200, LOG))
    with pytest.raises(OSError, match="No space left"):
        tools.client(server).download(server.base_url + f"{RESULTS}/log.csv", Full())
