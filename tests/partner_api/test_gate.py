from __future__ import annotations

import asyncio
import io

import pytest

from partner_api import AsyncPartnerClient, MemoryTokenStore
from partner_api.errors import AmbiguousError, BlockedError, CredentialsError, ThrottledError
from partner_api.gate import LANES, OPERATIONS

LISTING = {"page_number": 1, "page_size": 1, "total_pages": 1, "products": []}
PAGE = "<!DOCTYPE html><html><title>Attention Required</title>"


class Book:
    """A gate that writes down what passes."""

    def __init__(self):
        self.admitted = []
        self.reported = []
        self.through = []

    def admit(self, operation, lane):
        assert operation in OPERATIONS
        assert lane in LANES
        self.admitted.append((operation, lane))

    def report(self, operation, status, retry_after_s, blocked):
        self.reported.append((operation, status, retry_after_s, blocked))

    def done(self, operation, lane, used):
        self.through.append((operation, lane, used))


def test_every_request_passes_the_gate_and_every_answer_is_reported(both):
    gate = Book()
    server = both.platform(both.http(401, {"m": 1}), both.http(429, b"", retry_after="3"), both.http(200, LISTING))
    both.client(server, gate=gate).list_catalog("v", lane="price")
    assert gate.admitted == [
        (name, "price") for name in ("token", "list_catalog", "token", "list_catalog", "list_catalog")
    ]
    assert gate.reported == [
        ("token", 200, None, False),
        ("list_catalog", 401, None, False),
        ("token", 200, None, False),
        ("list_catalog", 429, 3.0, False),
        ("list_catalog", 200, None, False),
    ]
    assert len(gate.admitted) == server.connections


@pytest.mark.parametrize("status", [403, 429])
def test_a_block_page_is_reported_as_one_and_nothing_more_is_sent(both, status):
    gate = Book()
    server = both.platform(both.http(status, PAGE, content_type="text/html", retry_after="600"))
    with pytest.raises(BlockedError) as caught:
        both.client(server, gate=gate).update_catalog("v", b"{}")
    assert (caught.value.status, caught.value.retry_after_s) == (status, 600.0)
    assert gate.reported[-1] == ("put_catalog", status, 600.0, True)
    assert len(server.of("PUT")) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((403, {"message": "not your chain"}), CredentialsError),
        ((403, b""), BlockedError),
        ((403, "Access denied"), BlockedError),
        ((429, {"message": "slow"}), ThrottledError),
    ],
)
def test_a_403_of_the_platform_is_told_from_one_of_its_edge(both, answer, error):
    server = both.platform(both.http(*answer))
    with pytest.raises(error) as caught:
        both.client(server, attempts_max=1).update_catalog("v", b"{}")
    assert type(caught.value) is error


def test_what_the_gate_raises_reaches_the_caller_and_nothing_is_sent(both):
    class Shut(Book):
        def admit(self, operation, lane):
            raise LookupError("budget store is down")

    server = both.platform(both.http(200, LISTING))
    store = MemoryTokenStore()
    with pytest.raises(LookupError, match="budget store"):
        both.client(server, gate=Shut(), token_store=store).list_catalog("v")
    assert server.connections == 0
    assert store.lease(1)


def test_a_lost_answer_was_admitted_and_is_not_reported(both):
    gate = Book()
    server = both.platform(lambda seen, send: None)
    with pytest.raises(AmbiguousError):
        both.client(server, gate=gate).update_catalog("v", b"{}")
    assert [name for name, _ in gate.admitted] == ["token", "put_catalog"]
    assert [name for name, *_ in gate.reported] == ["token"]


def test_a_token_that_ends_while_the_gate_waits_is_renewed_before_the_request_leaves(both):
    now_s = [0.0]
    store = MemoryTokenStore(lambda: now_s[0])

    class Slow(Book):
        def admit(self, operation, lane):
            super().admit(operation, lane)
            if operation == "list_catalog" and len(self.admitted) == 2:
                now_s[0] += 8000

    gate = Slow()
    server = both.platform(both.http(200, LISTING))
    both.client(server, gate=gate, token_store=store).list_catalog("v")
    (sent,) = server.of("GET")
    assert sent.headers["authorization"] == "Bearer canary-token-2"
    assert [name for name, _ in gate.admitted] == ["token", "list_catalog", "token", "list_catalog"]
    assert gate.through == [("list_catalog", "catalog", False)]


def test_a_storage_hosts_refusal_is_no_word_of_the_platform(both):
    gate = Book()
    storage = both.server(lambda seen, send: send(both.http(403, "<html>AccessDenied")))
    server = both.platform(both.http(200, LISTING))
    client = both.client(server, gate=gate, download_hosts=[f"localhost:{storage.port}"], private_hosts=["localhost"])
    with pytest.raises(Exception, match="does not give the file out any more"):
        client.download(f"http://localhost:{storage.port}/log.csv", io.BytesIO())
    assert gate.admitted == [("download", "catalog")]
    assert gate.reported == []


def test_an_async_gate_and_clock_are_awaited_and_hold_up_nobody(tools):
    class Slow:
        def __init__(self):
            self.waiting = 0
            self.most = 0

        async def admit(self, operation, lane):
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            await asyncio.sleep(0.05)
            self.waiting -= 1

        async def report(self, operation, status, retry_after_s, blocked):
            await asyncio.sleep(0)

        async def done(self, operation, lane, used):
            await asyncio.sleep(0)

    gate = Slow()
    server = tools.platform(tools.http(200, LISTING))

    async def run():
        async with AsyncPartnerClient(server.base_url, "c", tools.credentials, gate=gate) as client:
            await client.list_catalog("v")
            await asyncio.gather(*(client.list_catalog("v") for _ in range(10)))

    asyncio.run(run())
    assert gate.most == 10


def test_a_cancelled_task_frees_the_token_lease(tools):
    store = MemoryTokenStore()
    arrived = asyncio.Event()

    def silent(seen, send):
        loop.call_soon_threadsafe(arrived.set)
        server.released.wait(10)

    server = tools.server(silent)
    loop = asyncio.new_event_loop()

    async def run():
        async with AsyncPartnerClient(server.base_url, "c", tools.credentials, token_store=store) as client:
            task = asyncio.create_task(client.list_catalog("v"))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    loop.run_until_complete(run())
    loop.close()
    assert store.lease(1)


def test_a_gate_for_event_loops_is_refused_by_the_client_for_threads_instead_of_passed_by(tools):
    class Async:
        async def admit(self, operation, lane): ...

        async def report(self, operation, status, retry_after_s, blocked): ...

        async def done(self, operation, lane, used): ...

    server = tools.platform(tools.http(200, LISTING))
    with pytest.raises(TypeError, match="AsyncPartnerClient"):
        tools.client(server, gate=Async()).list_catalog("v")
    assert server.connections == 0
