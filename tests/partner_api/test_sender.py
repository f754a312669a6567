"""The head of a rejection counts, whether or not its body arrives: an edge that rejects a large upload sends the head and cuts the connection."""

from __future__ import annotations

import io
import time

import pytest

from partner_api.errors import (
    AmbiguousError,
    BlockedError,
    CredentialsError,
    InvalidRequestError,
    LinkExpiredError,
    ThrottledError,
    UnexpectedAnswerError,
)

LISTING = {"page_number": 1, "page_size": 1, "total_pages": 1, "products": []}


class RecordingGate:
    """A gate that records the reports."""

    def __init__(self):
        self.reported = []

    def admit(self, operation, priority, vendors):
        pass

    def report(self, operation, status, retry_after_s, blocked):
        self.reported.append((operation, status, retry_after_s, blocked))

    def unanswered(self, operation, reason):
        """Nothing to remember."""

    def done(self, operation, priority, used):
        """Returns no permit."""


def cut(tools, status, start, **headers):
    """The head, the start of the body, and the end of the connection."""
    return tools.http(status, start, content_length=str(len(start) + 1000), **headers)


def stuck(tools, status, start, **headers):
    """The head, the start of the body, and then nothing for longer than the client waits."""

    def answer(_seen, send):
        send(cut(tools, status, start, **headers))
        time.sleep(0.5)

    return answer


def strange(tools, status, _start, **headers):
    return tools.http(status, b"\x8b\x01xxxx", content_encoding="br", **headers)


def damaged(tools, status, start, **headers):
    return tools.http(status, start, content_encoding="gzip", **headers)


UNREADABLE = [cut, stuck, strange, damaged]
JSON = {"content_type": "application/json"}
PAGE = {"content_type": "text/html"}


@pytest.mark.parametrize("broken", UNREADABLE)
@pytest.mark.parametrize(
    ("status", "headers", "error", "blocked"),
    [
        (429, JSON, ThrottledError, False),
        (403, PAGE, BlockedError, True),
        (403, JSON, CredentialsError, False),
        (413, JSON, InvalidRequestError, False),
        (302, PAGE, UnexpectedAnswerError, False),
    ],
)
def test_a_rejection_with_an_unreadable_body_is_a_rejection(tools, broken, status, headers, error, blocked):
    gate = RecordingGate()
    start = b"<html>no" if headers is PAGE else b'{"message": "no'
    server = tools.platform(broken(tools, status, start, retry_after="120", **headers))
    with pytest.raises(error) as caught:
        tools.client(server, gate=gate, timeout_s=0.2).update_catalog("v", b'{"products":[]}')
    assert type(caught.value) is error
    assert (caught.value.status, caught.value.retry_after_s) == (status, 120.0)
    assert gate.reported[-1] == ("put_catalog", status, 120.0, blocked)
    assert len(server.of("PUT")) == 1


@pytest.mark.parametrize("broken", UNREADABLE)
def test_a_token_rejected_with_an_unreadable_body_is_renewed(tools, broken):
    server = tools.platform(broken(tools, 401, b'{"message": "ex', **JSON), tools.http(202, {"job_id": "j"}))
    assert tools.client(server, timeout_s=0.2).update_catalog("v", b'{"products":[]}').job_id == "j"
    assert len(server.of("POST", "/token")) == 2


@pytest.mark.parametrize("broken", UNREADABLE)
def test_the_client_waits_after_a_429_with_an_unreadable_body(tools, broken):
    clock = tools.QuickClock()
    server = tools.platform(broken(tools, 429, b"slow", retry_after="7"), tools.http(200, LISTING))
    tools.client(server, timeout_s=0.2, clock=clock).list_catalog("v")
    assert clock.slept == [7.0]


def test_the_part_of_a_rejection_that_arrived_before_the_cut_is_its_excerpt(tools):
    server = tools.platform(cut(tools, 413, b"the body is too la", content_type="text/plain"))
    with pytest.raises(InvalidRequestError) as caught:
        tools.client(server).update_catalog("v", b'{"products":[]}')
    assert caught.value.body_excerpt == "the body is too la"


@pytest.mark.parametrize("broken", UNREADABLE)
@pytest.mark.parametrize("status", [200, 202])
def test_a_success_with_an_unreadable_body_is_ambiguous(tools, broken, status):
    server = tools.platform(broken(tools, status, b'{"job_id": ', **JSON))
    with pytest.raises(AmbiguousError) as caught:
        tools.client(server, timeout_s=0.2).update_catalog("v", b'{"products":[]}')
    assert caught.value.status is None
    assert len(server.of("PUT")) == 1


@pytest.mark.parametrize("broken", UNREADABLE)
def test_an_expired_link_with_an_unreadable_body_is_an_expired_link(tools, broken):
    server = tools.platform(broken(tools, 404, b"<html>gone", **PAGE))
    client = tools.client(server, timeout_s=0.2, download_hosts=["127.0.0.1"], private_hosts=["127.0.0.1"])
    with pytest.raises(LinkExpiredError):
        client.download(f"{server.base_url}/v2/chains/demo-chain/catalog/logs/1.csv", io.BytesIO())
