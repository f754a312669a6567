"""Idle connections are closed in favour of connections that send events."""

from __future__ import annotations

import contextlib
import resource
import socket
import time

import pytest

from receiver_fixture import LiveReceiver, request

JOB = b'{"job_id": "%d", "status": "COMPLETED"}'


@pytest.fixture(autouse=True)
def _descriptors():
    """Room for the callers of this test, who all live in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 6000), hard) if hard > 0 else 6000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def few(database_url):
    """A receiver with two connections an address, and a proxy at 127.0.0.8/31."""
    few = {"SHELFSYNC_WEBHOOK__CONNECTIONS_PER_ADDRESS_MAX": "2", "SHELFSYNC_WEBHOOK__PROXIES": "127.0.0.8/31, ::1"}
    with LiveReceiver(database_url, **few) as receiver:
        yield receiver


@contextlib.contextmanager
def _idle(receiver, addresses):
    """A connection from each of these addresses of this machine, on which nothing is sent."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(_connect(receiver, address)) for address in addresses]


def _connect(receiver, address="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", receiver.port), timeout=10, source_address=(address, 0))


def _answer(receiver, number, address="127.0.0.1"):
    """The first line of what a genuine call is answered, and how long it took."""
    began_s = time.monotonic()
    with _connect(receiver, address) as connection:
        connection.sendall(request(JOB % number))
        first = connection.recv(1024).partition(b"\r\n")[0]
    return first, time.monotonic() - began_s


def _is_stored(one: socket.socket) -> bool:
    """Whether the request was answered 200; head and body of an answer may arrive separately."""
    answer = b""
    while b"}" not in answer and (more := one.recv(1024)):
        answer += more
    return answer.startswith(b"HTTP/1.1 200")


def _is_open(connection):
    connection.settimeout(0.2)
    try:
        return bool(connection.recv(1024))
    except TimeoutError:
        return True
    except ConnectionError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_2200_idle_connections_from_one_address_block_no_genuine_event(database_url, address):
    with LiveReceiver(database_url) as receiver:
        assert _answer(receiver, 0)[0] == b"HTTP/1.1 200 OK"
        with _idle(receiver, ["127.0.0.1"] * 2200):
            for number in range(1, 4):
                first, took_s = _answer(receiver, number, address)
                assert (first, took_s < 3) == (b"HTTP/1.1 200 OK", True)


@pytest.mark.slow
def test_idle_connections_from_many_addresses_block_no_genuine_event(database_url):
    with LiveReceiver(
        database_url, SHELFSYNC_WEBHOOK__CONNECTIONS_MAX="100", SHELFSYNC_WEBHOOK__CONNECTIONS_PER_ADDRESS_MAX="20"
    ) as receiver:
        with _idle(receiver, [f"127.0.{n // 10}.{n % 10 + 10}" for n in range(200)]):
            first, took_s = _answer(receiver, 1, "127.0.0.2")
        assert (first, took_s < 3) == (b"HTTP/1.1 200 OK", True)


@pytest.mark.slow
def test_the_oldest_that_never_sent_a_request_gives_way_and_one_at_work_does_not(few):
    with _connect(few) as worker:
        worker.sendall(request(JOB % 1))
        assert _is_stored(worker)
        with _idle(few, ["127.0.0.1"] * 3) as idle:
            time.sleep(0.3)
            assert [_is_open(one) for one in idle] == [False, False, True]
            worker.settimeout(10)
            worker.sendall(request(JOB % 2))
            assert _is_stored(worker)


@pytest.mark.slow
def test_where_every_connection_of_an_address_is_at_work_a_further_one_is_closed(few):
    with _idle(few, ["127.0.0.1"] * 2) as busy:
        for number, one in enumerate(busy):
            one.sendall(request(JOB % number))
            assert _is_stored(one)
        with _connect(few) as further:
            assert not _is_open(further)
        assert _answer(few, 9, "127.0.0.2")[0] == b"HTTP/1.1 200 OK"


@pytest.mark.slow
def test_a_proxy_in_front_has_as_many_connections_as_there_are(few):
    with _idle(few, ["127.0.0.9"] * 20) as from_proxy, _idle(few, ["127.0.0.2"] * 3) as others:
        time.sleep(0.3)
        assert all(_is_open(one) for one in from_proxy[:3])
        assert [_is_open(one) for one in others] == [False, True, True]


@pytest.mark.slow
def test_a_header_that_names_another_address_buys_nothing(few):
    for number in range(6):
        with _connect(few) as one:
            one.sendall(request(JOB % number).replace(b"Host:", b"X-Forwarded-For: 127.0.0.9\r\nHost:"))
            assert _is_stored(one)
    with _idle(few, ["127.0.0.1"] * 2) as busy:
        for number, one in enumerate(busy):
            one.sendall(request(JOB % number).replace(b"Host:", b"X-Forwarded-For: 127.0.0.9\r\nHost:"))
            assert _is_stored(one)
        with _connect(few) as further:
            assert not _is_open(further)


def test_a_network_that_is_none_is_named():
    from pydantic import ValidationError

    from shelfsync.settings import WebhookSettings

    with pytest.raises(ValidationError, match="proxies"):
        WebhookSettings(proxies="10.0.0.0/8, everybody")
