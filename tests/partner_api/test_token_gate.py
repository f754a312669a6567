"""A token's request at the gate: it may wait there for minutes, and still only one caller asks."""

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
    """What a budget says to who cannot leave soon."""


class Paused:
    """A gate that is closed until it is opened, or until it says why it stays closed. It counts its leaves and what became of them."""

    def __init__(self):
        self.opened = threading.Event()
        self.why = None
        self.waiting = 0
        self.admitted = []
        self.unused = []
        self.elsewhere = []
        self._lock = threading.Lock()

    def admit(self, operation, lane):
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

    def done(self, operation, lane, used):
        (self.elsewhere if used else self.unused).append(operation)


class Hands:
    """A clock moved by hand."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


def _in_line(gate, number):
    """Waits until so many callers stand at the gate; False when they do not come."""
    ends_at_s = time.monotonic() + 5
    while gate.waiting < number and time.monotonic() < ends_at_s:
        time.sleep(0.01)
    return gate.waiting >= number


def _caller(server, tools, gate, store):
    def call(_number):
        with PartnerClient(server.base_url, "c", tools.credentials, gate=gate, token_store=store) as client:
            return client.list_catalog("v")

    return call


class Slow:
    """A platform whose token takes a while: long enough that others come through the gate meanwhile."""

    def __init__(self, tools):
        self.inner = tools.Platform(tools.http(200, LISTING))

    def __call__(self, seen, send):
        if seen.method == "POST":
            time.sleep(0.2)
        self.inner(seen, send)


def test_however_long_the_gate_keeps_all_waiting_one_of_them_asks_for_the_token(tools):
    gate, hands = Paused(), Hands()
    store = MemoryTokenStore(hands)
    server = tools.server(Slow(tools))
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_caller(server, tools, gate, store), n) for n in range(CALLERS)]
        for waiting in range(1, 5):  # longer than any lease: whoever may, joins the line
            _in_line(gate, waiting)
            hands.now_s += 61
        gate.opened.set()
        for call in calls:
            call.result(30)
    assert len(server.of("POST")) == 1
    assert len(server.of("GET")) == CALLERS
    tokens = gate.admitted.count("token")
    assert gate.unused == ["token"] * (tokens - 1), "a leave that was not used is given back"


def test_whoever_waits_for_a_token_hears_from_the_gate_why_nothing_leaves(tools):
    gate = Paused()
    gate.why = PausedError("nothing leaves for another 300 s")
    store = MemoryTokenStore()
    server = tools.platform(tools.http(200, LISTING))
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_caller(server, tools, gate, store), n) for n in range(CALLERS)]
        assert _in_line(gate, CALLERS), "everybody stands at the gate itself"
        gate.opened.set()
        for call in calls:
            with pytest.raises(PausedError):
                call.result(30)
    assert server.connections == 0
    assert store.lease(1)


def test_while_one_waits_at_the_gate_to_renew_others_use_the_token_that_has_not_ended(tools):
    gate, hands = Paused(), Hands()
    store = MemoryTokenStore(hands)
    server = tools.platform(tools.http(200, LISTING))
    gate.opened.set()
    _caller(server, tools, gate, store)(0)
    hands.now_s += 7000
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
    gate = Paused()
    gate.opened.set()
    leases = []

    class Store(MemoryTokenStore):
        def lease(self, seconds, mine=None):
            leases.append(super().lease(seconds, mine))
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


def test_a_caller_that_comes_back_too_late_neither_frees_nor_overwrites_the_lease_of_another():
    from pydantic import SecretStr

    hands = Hands()
    store = MemoryTokenStore(hands)
    late = store.lease(60)
    assert not store.lease(60)
    hands.now_s += 61
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


def test_a_file_of_a_storage_host_ends_its_leave_without_a_word_about_the_platform(both):
    gate = Paused()
    gate.opened.set()
    storage = both.server(lambda seen, send: send(both.http(200, b"sku,status\n1,ok\n")))
    server = both.platform(both.http(200, LISTING))
    client = both.client(server, gate=gate, download_hosts=[f"localhost:{storage.port}"], private_hosts=["localhost"])
    client.download(f"http://localhost:{storage.port}/log.csv", io.BytesIO())
    assert (gate.admitted, gate.elsewhere, gate.unused) == (["download"], ["download"], [])
