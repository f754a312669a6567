"""The receiver as a process: floods, hostile callers, kills."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import sqlalchemy as sa

from receiver_fixture import PROJECT, SECRET, LiveReceiver, flood, request
from shelfsync.inbox.events import event

JOB = b'{"job_id": "%d", "status": "COMPLETED"}'


@pytest.fixture
def receiver(database_url):
    with LiveReceiver(database_url) as live:
        yield live


def _stored(engine):
    with engine.connect() as connection:
        return {bytes(body) for body in connection.execute(sa.select(event.c.body)).scalars()}


def _connect(receiver):
    return socket.create_connection(("127.0.0.1", receiver.port), timeout=20)


def _answer(connection):
    """All bytes until the receiver closes the connection."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            received += part
    return received


def _still_answers(receiver, number):
    """A genuine call at this moment; how long it took."""
    began_s = time.monotonic()
    with _connect(receiver) as connection:
        connection.sendall(request(JOB % number))
        assert connection.recv(1024).startswith(b"HTTP/1.1 200")
    return time.monotonic() - began_s


@pytest.mark.slow
def test_a_flood_is_stored_and_none_is_lost(receiver, engine):
    bodies = [JOB % n for n in range(2000)]
    acknowledged = asyncio.run(flood(receiver.port, bodies))
    assert len(acknowledged) == 2000
    assert _stored(engine) == set(bodies)
    with engine.connect() as connection:
        commits = connection.exec_driver_sql("SELECT count(DISTINCT xmin::text) FROM inbox.event").scalar_one()
    print(f"2000 events in {commits} commits")
    assert commits < 1000  # what arrives while a commit is under way goes into the next one


def _jobs(first, last, then):
    """Events without end. Before event number `last`, `then` is called."""
    for number in itertools.count(first):
        if number == last:
            then()
        yield JOB % number


@pytest.mark.slow
def test_every_event_answered_200_is_in_the_database_after_kill_9(database_url, engine):
    acknowledged = set()
    for first, last in ((0, 300), (10_000, 10_800), (20_000, 22_000)):
        with LiveReceiver(database_url) as receiver:
            kill = functools.partial(receiver.process.send_signal, signal.SIGKILL)
            acknowledged.update(asyncio.run(flood(receiver.port, _jobs(first, last, kill))))
    assert len(acknowledged) > 30
    assert acknowledged <= _stored(engine)


@pytest.mark.slow
def test_a_stop_by_sigterm_stores_every_event_answered_200(receiver, engine):
    acknowledged = asyncio.run(flood(receiver.port, _jobs(0, 2_000, receiver.process.terminate)))
    receiver.process.wait(30)
    assert acknowledged
    assert set(acknowledged) <= _stored(engine)


@pytest.mark.slow
def test_callers_that_send_slowly_are_cut_off_and_delay_no_other(receiver):
    _still_answers(receiver, 0)
    slow_heads = [_connect(receiver) for _ in range(100)]
    slow_bodies = [_connect(receiver) for _ in range(100)]
    for connection in slow_heads:
        connection.sendall(b"POST /webhook HTTP/1.1\r\nHost: x\r\nX-Pad: ")
    for connection in slow_bodies:
        connection.sendall(request(b"x" * 1000)[:-999])
    stop = threading.Event()

    def drip():
        while not stop.wait(0.5):
            for connection in slow_heads + slow_bodies:
                with contextlib.suppress(OSError):
                    connection.send(b"x")

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        assert _still_answers(receiver, 1) < 3
        assert _answer(slow_heads[0]).startswith(b"HTTP/1.1 408")
        assert _answer(slow_bodies[0]).startswith(b"HTTP/1.1 408")
        assert _still_answers(receiver, 2) < 3
    finally:
        stop.set()
        dripping.join()
        for connection in slow_heads + slow_bodies:
            connection.close()


GIVEN_AWAY = [
    (f"Authorization: {SECRET}\r\nContent-Length: 1000000000\r\n", b"413"),
    ("Content-Length: 1000000000\r\n", b"401"),
    ("Transfer-Encoding: chunked\r\n", b"401"),
    (f"Authorization: {SECRET}\r\nAuthorization: {SECRET}\r\nContent-Length: 1000000000\r\n", b"401"),
    (f"Authorization: {SECRET}\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n", b"415"),
    (f"Authorization: {SECRET}\r\nContent-Length: -1\r\n", b"400"),
    (f"Authorization: {SECRET}\r\nContent-Length: 5\r\nContent-Length: 6\r\n", b"400"),
]


@pytest.mark.slow
def test_a_request_with_an_invalid_head_is_rejected_before_its_body(receiver, engine):
    for head, status in GIVEN_AWAY:
        with _connect(receiver) as connection:
            connection.sendall(f"POST /webhook HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode())
            received = _answer(connection)  # and it closes without reading a gigabyte
            assert received.startswith(b"HTTP/1.1 " + status), (head, received)
    assert _stored(engine) == set()


@pytest.mark.slow
@pytest.mark.parametrize("authorization", [f"Authorization: {SECRET}\r\n", ""])
def test_a_gigabyte_without_a_length_is_cut_off_early_and_memory_stays_flat(receiver, engine, authorization):
    _still_answers(receiver, 0)
    before = receiver.memory_bytes
    sent = 0
    with _connect(receiver) as connection:
        connection.sendall(
            f"POST /webhook HTTP/1.1\r\nHost: x\r\n{authorization}Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        with contextlib.suppress(OSError):
            for _ in range(16_000):
                connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                sent += 65_536
        _answer(connection)
    assert sent < 20_000_000  # what fits the system's own buffers, not the gigabyte
    assert receiver.memory_bytes - before < 32 * 1024 * 1024
    _still_answers(receiver, 1)
    assert len(_stored(engine)) == 2


@pytest.mark.slow
def test_an_endless_head_is_rejected(receiver):
    _still_answers(receiver, 0)
    before = receiver.memory_bytes
    with _connect(receiver) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(b"POST /webhook HTTP/1.1\r\n")
            for n in range(100_000):
                connection.sendall(b"X-%d: %s\r\n" % (n, b"x" * 1000))
        _answer(connection)
    assert receiver.memory_bytes - before < 16 * 1024 * 1024
    _still_answers(receiver, 1)


@pytest.mark.slow
def test_deep_json_does_not_end_the_process(receiver, engine):
    with _connect(receiver) as connection:
        connection.sendall(request(b'{"a":' * 200_000))
        assert _answer(connection).startswith(b"HTTP/1.1 400")
    _still_answers(receiver, 1)
    assert len(_stored(engine)) == 1


@pytest.mark.slow
def test_its_log_holds_neither_bodies_nor_secrets(receiver):
    with _connect(receiver) as connection:
        connection.sendall(request(b'{"order_id": "o", "phone": "phone-canary"}'))
        connection.recv(1024)
        connection.sendall(request(b'{"phone-canary'))
        _answer(connection)
    with _connect(receiver) as connection:
        connection.sendall(request(b"{}", secret="guess-canary", path="/webhook?token=query-canary"))
        _answer(connection)
    receiver.process.terminate()
    receiver.process.wait(30)
    receiver._reader.join(10)
    log = "".join(receiver.log)
    assert "rejected 1 calls" in log
    assert "canary" not in log
    assert SECRET not in log


def _run(**environment):
    return subprocess.run(
        [sys.executable, "-m", "shelfsync.receiver"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT / "include"), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=PROJECT / "tests",
    )


@pytest.mark.slow
def test_without_a_database_the_error_names_the_setting():
    ended = _run()
    assert ended.returncode == 3
    assert ended.stderr.strip().splitlines()[-1].startswith("SHELFSYNC_DATABASE_URL: is not set")


@pytest.mark.slow
def test_a_port_in_use_is_named(database_url):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = _run(
            SHELFSYNC_DATABASE_URL=database_url, SHELFSYNC_WEBHOOK__PORT=str(port), SHELFSYNC_WEBHOOK__SECRET="x" * 16
        )
    assert ended.returncode == 3
    assert f"SHELFSYNC_WEBHOOK__PORT: cannot listen on 127.0.0.1:{port}" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_without_a_secret_it_runs_rejects_every_call_and_logs_it(database_url, engine):
    with LiveReceiver(database_url, SHELFSYNC_WEBHOOK__SECRET="") as receiver:
        with _connect(receiver) as connection:
            connection.sendall(request(json.dumps({"job_id": 1}).encode(), secret=""))
            assert _answer(connection).startswith(b"HTTP/1.1 401")
        assert "SHELFSYNC_WEBHOOK__SECRET is not set" in "".join(receiver.log)
    assert _stored(engine) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["WEBHOOK__SECRET", "WEBHOOK__SECRET_PREVIOUS", "ORDERS__PICKING_SECRET"])
def test_a_secret_that_can_be_guessed_is_rejected_before_anything_is_received(name):
    ended = _run(SHELFSYNC_DATABASE_URL="postgresql://x@127.0.0.1/x", **{f"SHELFSYNC_{name}": "canary-15-chars"})
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"SHELFSYNC_{name}: is shorter than 16 characters")
    assert "canary-15" not in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "proxies", "warns"),
    [("127.0.0.1", "", False), ("::1", "", False), ("0.0.0.0", "", True), ("0.0.0.0", "10.0.0.0/8", False)],
)
def test_listening_beyond_this_machine_without_tls_in_front_warns(database_url, host, proxies, warns):
    port = "0"
    settings = {"SHELFSYNC_WEBHOOK__HOST": host, "SHELFSYNC_WEBHOOK__PROXIES": proxies, "SHELFSYNC_WEBHOOK__PORT": port}
    with LiveReceiver(database_url, **settings) as receiver:
        with socket.create_connection((host if host != "0.0.0.0" else "127.0.0.1", receiver.port), timeout=20) as one:
            one.sendall(request(JOB % 1))
            assert one.recv(1024).startswith(b"HTTP/1.1 200")
        assert ("other machines reach the receiver without TLS" in "".join(receiver.log)) is warns
