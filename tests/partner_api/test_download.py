"""A log or export is fetched from its link: who gets the token, which redirect is followed, when the link has expired."""

from __future__ import annotations

import hashlib
import io

import pytest

from log_download import LOG, RESULTS, fetch
from partner_api.errors import (
    BlockedError,
    DownloadBrokenError,
    LinkExpiredError,
    LinkNotAllowedError,
    UnexpectedAnswerError,
)


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


def cut_length(seen, send):
    send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + LOG[:900])


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
