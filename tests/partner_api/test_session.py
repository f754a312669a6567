from __future__ import annotations

import io

import pytest

from partner_api import MemoryTokenStore
from partner_api.errors import AmbiguousError, BlockedError, CredentialsError, PartnerError, ThrottledError
from partner_api.session import OPERATIONS, PRIORITIES, SystemClock

LISTING = {"page_number": 1, "page_size": 1, "total_pages": 1, "products": []}
PAGE = "<!DOCTYPE html><html><title>Attention Required</title>"


class RecordingGate:
    """A gate that records what passes."""

    def __init__(self):
        self.admitted = []
        self.vendors = {}
        self.reported = []
        self.lost = []
        self.through = []

    def admit(self, operation, priority, vendors):
        assert operation in OPERATIONS
        assert priority in PRIORITIES
        self.admitted.append((operation, priority))
        self.vendors[operation] = vendors

    def report(self, operation, status, retry_after_s, blocked):
        self.reported.append((operation, status, retry_after_s, blocked))

    def unanswered(self, operation, reason):
        self.lost.append((operation, reason))

    def done(self, operation, priority, used):
        self.through.append((operation, priority, used))


def test_every_request_passes_the_gate_and_every_answer_is_reported(tools):
    gate = RecordingGate()
    server = tools.platform(tools.http(401, {"m": 1}), tools.http(429, b"", retry_after="3"), tools.http(200, LISTING))
    tools.client(server, gate=gate).list_catalog("v", priority="price")
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


NAMED = {
    "put_catalog": (lambda client: client.update_catalog("v", b"{}"), ("v",)),
    "list_catalog": (lambda client: client.list_catalog("v"), ("v",)),
    "categories": (lambda client: client.categories("v"), ("v",)),
    "export": (lambda client: client.export("v"), ("v",)),
    "outlet_status": (lambda client: client.outlet_status("v"), ("v",)),
    "create_products": (lambda client: client.create_products([{}]), ("*",)),
    "put_promotion": (lambda client: client.put_promotion(b"{}", ["v", "w"]), ("v", "w")),
    "job_status": (lambda client: client.job_status("j"), ()),
    "get_order": (lambda client: client.get_order("o"), ()),
}


@pytest.mark.parametrize("operation", NAMED)
def test_the_gate_receives_the_vendors_that_a_request_names(tools, operation):
    gate = RecordingGate()
    call, vendors = NAMED[operation]
    with pytest.raises(PartnerError):
        call(tools.client(tools.platform(tools.http(418, {})), gate=gate))
    assert gate.vendors == {"token": (), operation: vendors}


@pytest.mark.parametrize("status", [403, 429])
def test_a_block_page_is_reported_as_one_and_nothing_more_is_sent(tools, status):
    gate = RecordingGate()
    server = tools.platform(tools.http(status, PAGE, content_type="text/html", retry_after="600"))
    with pytest.raises(BlockedError) as caught:
        tools.client(server, gate=gate).update_catalog("v", b"{}")
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
def test_a_403_of_the_platform_differs_from_one_of_its_edge(tools, answer, error):
    server = tools.platform(tools.http(*answer))
    with pytest.raises(error) as caught:
        tools.client(server, attempts_max=1).update_catalog("v", b"{}")
    assert type(caught.value) is error


def test_what_the_gate_raises_reaches_the_caller_and_nothing_is_sent(tools):
    class Shut(RecordingGate):
        def admit(self, operation, priority, vendors):
            raise LookupError("rate limit store is down")

    server = tools.platform(tools.http(200, LISTING))
    store = MemoryTokenStore()
    with pytest.raises(LookupError, match="rate limit store"):
        tools.client(server, gate=Shut(), token_store=store).list_catalog("v")
    assert server.connections == 0
    assert store.lease(1)


def test_a_lost_answer_was_admitted_and_is_not_reported(tools):
    gate = RecordingGate()
    server = tools.platform(lambda seen, send: None)
    with pytest.raises(AmbiguousError):
        tools.client(server, gate=gate).update_catalog("v", b"{}")
    assert [name for name, _ in gate.admitted] == ["token", "put_catalog"]
    assert [name for name, *_ in gate.reported] == ["token"]
    assert gate.lost == [("put_catalog", "RemoteProtocolError Server disconnected without sending a response.")]


def test_a_token_that_ends_while_the_gate_waits_is_renewed_before_the_request_leaves(tools):
    now_s = [0.0]
    store = MemoryTokenStore(lambda: now_s[0])

    class Slow(RecordingGate):
        def admit(self, operation, priority, vendors):
            super().admit(operation, priority, vendors)
            if operation == "list_catalog" and len(self.admitted) == 2:
                now_s[0] += 8000

    class SameClock(SystemClock):
        def monotonic_s(self):
            return now_s[0]

    gate = Slow()
    server = tools.platform(tools.http(200, LISTING))
    tools.client(server, gate=gate, token_store=store, clock=SameClock()).list_catalog("v")
    (sent,) = server.of("GET")
    assert sent.headers["authorization"] == "Bearer canary-token-2"
    assert [name for name, _ in gate.admitted] == ["token", "list_catalog", "token", "list_catalog"]
    assert gate.through == [("list_catalog", "catalog", False)]


def test_a_storage_hosts_rejection_is_not_reported_as_the_platforms(tools):
    gate = RecordingGate()
    storage = tools.server(lambda seen, send: send(tools.http(403, "<html>AccessDenied")))
    server = tools.platform(tools.http(200, LISTING))
    client = tools.client(server, gate=gate, download_hosts=[f"localhost:{storage.port}"], private_hosts=["localhost"])
    with pytest.raises(Exception, match="no longer serves the file"):
        client.download(f"http://localhost:{storage.port}/log.csv", io.BytesIO())
    assert gate.admitted == [("download", "catalog")]
    assert gate.reported == []
