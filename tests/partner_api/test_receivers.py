from __future__ import annotations

import gzip
import io
import zlib

import httpx
import pytest
from pydantic import SecretStr

from log_download import LOG, RESULTS, fetch
from partner_api import PartnerClient, StaticToken
from partner_api.errors import DownloadBrokenError, UnavailableError, UnexpectedAnswerError
from partner_api.sender import BodyStream


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
