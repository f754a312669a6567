"""Ambiguous requests are rejected, and a flood of them costs one line of the log."""

from __future__ import annotations

import contextlib
import json
import re
import socket

import pytest
import sqlalchemy as sa

from receiver_fixture import SECRET, LiveReceiver, request
from shelfsync.inbox.events import event

JOB = b'{"job_id": "1", "status": "COMPLETED"}'
RIGHT = f"Authorization: {SECRET}"
CHUNKED = b"%x\r\n%s\r\n0\r\n" % (len(JOB), JOB)


@pytest.fixture(scope="module")
def shared_url(postgres, migrated_template):
    url = postgres.create_database("framing", template=migrated_template)
    yield url
    postgres.drop_database("framing")


@pytest.fixture(scope="module")
def receiver(shared_url):
    with LiveReceiver(shared_url) as live:
        yield live


def _answers(receiver: LiveReceiver, sent: bytes) -> bytes:
    """All bytes until the receiver closes or sends nothing more."""
    received = b""
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=2) as connection:
        connection.sendall(sent)
        with contextlib.suppress(ConnectionError, TimeoutError):
            while part := connection.recv(65536):
                received += part
    return received


def _stored(url: str) -> int:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(event)).scalar_one()
    finally:
        engine.dispose()


AMBIGUOUS = {
    "a length beside chunks": f"POST /webhook HTTP/1.1\r\nHost: x\r\n{RIGHT}\r\nContent-Length: {len(JOB)}\r\n"
    "Transfer-Encoding: chunked\r\n\r\n".encode()
    + CHUNKED
    + b"\r\n",
    "chunks beside a length": f"POST /webhook HTTP/1.1\r\nHost: x\r\n{RIGHT}\r\nTransfer-Encoding: chunked\r\n"
    f"Content-Length: {len(JOB)}\r\n\r\n".encode()
    + CHUNKED
    + b"\r\n",
    "bare LF everywhere": request(JOB).replace(b"\r\n", b"\n"),
    "a bare LF in one line": request(JOB).replace(b"Host: receiver\r\n", b"Host: receiver\n"),
    "a bare LF at the end of the head": request(JOB).replace(b"\r\n\r\n", b"\r\n\n"),
    "a folded line": request(JOB).replace(b"Host: receiver\r\n", b"Host: receiver\r\n more\r\n"),
    "a field after the last chunk": f"POST /webhook HTTP/1.1\r\nHost: x\r\n{RIGHT}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    + CHUNKED
    + b"Authorization: other\r\n\r\n",
    "a bare LF after the last chunk": f"POST /webhook HTTP/1.1\r\nHost: x\r\n{RIGHT}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    + CHUNKED
    + b"\n",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_request_that_two_servers_could_read_differently_is_rejected(receiver, shared_url, name):
    before = _stored(shared_url)
    assert _answers(receiver, AMBIGUOUS[name]).startswith(b"HTTP/1.1 400")
    assert _stored(shared_url) == before


@pytest.mark.parametrize("cut", [1, 7, 20, 60, 90])
def test_it_is_rejected_however_it_is_cut_into_packets(receiver, cut):
    sent = AMBIGUOUS["a bare LF in one line"]
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=5) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(sent), cut):
                connection.sendall(sent[start : start + cut])
        assert connection.recv(65536).startswith(b"HTTP/1.1 400")


def test_a_second_request_behind_a_good_one_is_read_as_strictly(receiver):
    received = _answers(receiver, request(b'{"job_id": "2"}') + AMBIGUOUS["bare LF everywhere"])
    assert [line[9:12] for line in re.findall(rb"HTTP/1.1 \d+", received)] == [b"200", b"400"]


def test_what_is_only_unusual_is_read(receiver):
    chunked = f"POST /webhook HTTP/1.1\r\nHost: x\r\n{RIGHT}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for sent in (
        chunked + CHUNKED + b"\r\n",
        request(b'{"job_id": "3",\n "status": "x"}\n\n\n'),
        request(b'{"job_id": "4"}') + request(b'{"job_id": "5"}\n'),
    ):
        statuses = re.findall(rb"HTTP/1.1 (\d+)", _answers(receiver, sent))
        assert set(statuses) == {b"200"}, (sent, statuses)


def test_the_address_with_a_slash_at_its_end_is_the_address_and_redirects_nowhere(receiver):
    received = _answers(
        receiver, request(b'{"job_id": "7"}', path="/webhook/").replace(b"Host: receiver", b"Host: evil.example")
    )
    assert received.startswith(b"HTTP/1.1 200")
    received = _answers(receiver, request(JOB, path="/health/").replace(b"Host: receiver", b"Host: evil.example"))
    assert received.startswith(b"HTTP/1.1 404")
    assert b"evil.example" not in received


@pytest.mark.slow
def test_a_flood_of_malformed_requests_costs_one_line_that_counts_them(database_url):
    with LiveReceiver(database_url, SHELFSYNC_LOG_FORMAT="json") as live:
        for _ in range(50):
            assert _answers(live, b"GARBAGE\r\n\r\n").startswith(b"HTTP/1.1 400")
        for _ in range(50):
            assert _answers(live, request(JOB, secret="a guess of a stranger")).startswith(b"HTTP/1.1 401")
        live.process.terminate()
        live.process.wait(30)
        live._reader.join(10)
    warned = [json.loads(line) for line in live.log if "WARNING" in line.upper()]
    assert len(warned) <= 4, warned  # the first of each kind at once, and what came after it at the end
    assert sum(int(number) for line in warned for number in re.findall(r"rejected (\d+) calls", str(line))) == 100
