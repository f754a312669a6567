"""The request of a token may wait at the gate for minutes; still only one caller sends it."""

from __future__ import annotations

import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from partner_api import MemoryTokenStore, PartnerClient

LISTING = {"page_number": 1, "page_size": 1, "total_pages": 1, "products": []}
CALLERS = 8


class PausedError(Exception):
    """The error of a rate limit that admits no request for long."""


class ClosedGate:
    """A gate that stays closed until a test opens it or gives the reason why it stays closed. It counts its permits and their ends."""

    def __init__(self):
        self.opened = threading.Event()
        self.why = None
        self.waiting = 0
        self.admitted = []
        self.unused = []
        self.elsewhere = []
        self._lock = threading.Lock()

    def admit(self, operation, priority, vendors):
        with self._lock:
            self.waiting += 1
        assert self.opened.wait(30)
        with self._lock:
            self.waiting -= 1
            if self.why is not None:
                raise self.why
            self.admitted.append(operation)

    def report(self, operation, status, retry_after_s, blocked):
        pass

    def unanswered(self, operation, reason):
        """Nothing to remember."""

    def done(self, operation, priority, used):
        (self.elsewhere if used else self.unused).append(operation)


class ManualClock:
    """A clock that a test moves."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


def _in_line(gate, number):
    """Waits until so many callers wait at the gate; False after 5 s."""
    ends_at_s = time.monotonic() + 5
    while gate.waiting < number and time.monotonic() < ends_at_s:
        time.sleep(0.01)
    return gate.waiting >= number


def _caller(server, tools, gate, store):
    def call(_number):
        with PartnerClient(server.base_url, "c", tools.credentials, gate=gate, token_store=store) as client:
            return client.list_catalog("v")

    return call


class SlowPlatform:
    """A platform whose token takes so long that other callers pass the gate meanwhile."""

    def __init__(self, tools):
        self.inner = tools.Platform(tools.http(200, LISTING))

    def __call__(self, seen, send):
        if seen.method == "POST":
            time.sleep(0.2)
        self.inner(seen, send)


def test_however_long_the_gate_holds_all_callers_one_of_them_requests_the_token(tools):
    gate, clock = ClosedGate(), ManualClock()
    store = MemoryTokenStore(clock)
    server = tools.server(SlowPlatform(tools))
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_caller(server, tools, gate, store), n) for n in range(CALLERS)]
        for waiting in range(1, 5):  # longer than any lease: every caller that may joins the queue
            _in_line(gate, waiting)
            clock.now_s += 61
        gate.opened.set()
        for call in calls:
            call.result(30)
    assert len(server.of("POST")) == 1
    assert len(server.of("GET")) == CALLERS
    tokens = gate.admitted.count("token")
    assert gate.unused == ["token"] * (tokens - 1), "the client returns an unused permit"


def test_every_caller_that_waits_for_a_token_receives_the_error_of_the_gate(tools):
    gate = ClosedGate()
    gate.why = PausedError("nothing leaves for another 300 s")
    store = MemoryTokenStore()
    server = tools.platform(tools.http(200, LISTING))
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_caller(server, tools, gate, store), n) for n in range(CALLERS)]
        assert _in_line(gate, CALLERS), "every caller waits at the gate itself"
        gate.opened.set()
        for call in calls:
            with pytest.raises(PausedError):
                call.result(30)
    assert server.connections == 0
    assert store.lease(1)


def test_while_one_caller_waits_at_the_gate_to_renew_others_use_the_valid_token(tools):
    gate, clock = ClosedGate(), ManualClock()
    store = MemoryTokenStore(clock)
    server = tools.platform(tools.http(200, LISTING))
    gate.opened.set()
    _caller(server, tools, gate, store)(0)
    clock.now_s += 7000
    gate.opened.clear()
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_caller(server, tools, gate, store), n) for n in range(CALLERS)]
        assert _in_line(gate, CALLERS)
        gate.opened.set()
        for call in calls:
            call.result(30)
    assert len(server.of("POST")) == 2
    assert gate.admitted.count("token") == 2, "one went to the gate for a new one"


def test_each_try_for_a_token_passes_the_gate_and_holds_the_lease_no_longer_than_itself(tools):
    gate = ClosedGate()
    gate.opened.set()
    leases = []

    class Store(MemoryTokenStore):
        def lease(self, seconds, replaces=None):
            leases.append(super().lease(seconds, replaces))
            return leases[-1]

    class Weak(tools.Platform):
        def __call__(self, seen, send):
            if seen.method == "POST" and len(server.of("POST")) < 3:
                send(tools.http(503, b""))
            else:
                super().__call__(seen, send)

    server = tools.server(Weak(tools.http(200, LISTING)))
    tools.client(server, gate=gate, token_store=Store()).list_catalog("v")
    assert gate.admitted == ["token", "token", "token", "list_catalog"]
    assert len(set(leases)) == 3


def test_a_caller_that_returns_too_late_neither_frees_nor_overwrites_the_lease_of_another():
    from pydantic import SecretStr

    clock = ManualClock()
    store = MemoryTokenStore(clock)
    late = store.lease(60)
    assert not store.lease(60)
    clock.now_s += 61
    mine = store.lease(60)
    assert mine
    store.release(late)
    store.save(late, SecretStr("late"), 7200)
    assert store.is_leased()
    assert store.load() is None
    assert store.lease(60, late) is None
    longer = store.lease(60, mine)
    assert longer
    store.save(longer, SecretStr("new"), 7200)
    assert store.load().secret.get_secret_value() == "new"
    assert not store.is_leased()


def test_a_file_of_a_storage_host_ends_its_permit_without_a_report_about_the_platform(tools):
    gate = ClosedGate()
    gate.opened.set()
    storage = tools.server(lambda seen, send: send(tools.http(200, b"sku,status\n1,ok\n")))
    server = tools.platform(tools.http(200, LISTING))
    client = tools.client(server, gate=gate, download_hosts=[f"localhost:{storage.port}"], private_hosts=["localhost"])
    client.download(f"http://localhost:{storage.port}/log.csv", io.BytesIO())
    assert (gate.admitted, gate.elsewhere, gate.unused) == (["download"], ["download"], [])
