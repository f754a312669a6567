"""The head of a refusal counts, whatever becomes of its body: an edge that refuses a large upload sends the head and cuts the line."""

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


class Book:
    """A gate that writes down what it is told."""

    def __init__(self):
        self.reported = []

    def admit(self, operation, lane):
        pass

    def report(self, operation, status, retry_after_s, blocked):
        self.reported.append((operation, status, retry_after_s, blocked))

    def done(self, operation, lane, used):
        """Nothing to give back."""


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
def test_a_refusal_whose_body_cannot_be_read_is_a_refusal(both, broken, status, headers, error, blocked):
    gate = Book()
    start = b"<html>no" if headers is PAGE else b'{"message": "no'
    server = both.platform(broken(both, status, start, retry_after="120", **headers))
    with pytest.raises(error) as caught:
        both.client(server, gate=gate, timeout_s=0.2).update_catalog("v", b'{"products":[]}')
    assert type(caught.value) is error
    assert (caught.value.status, caught.value.retry_after_s) == (status, 120.0)
    assert gate.reported[-1] == ("put_catalog", status, 120.0, blocked)
    assert len(server.of("PUT")) == 1


@pytest.mark.parametrize("broken", UNREADABLE)
def test_a_token_refused_with_a_body_that_cannot_be_read_is_renewed(both, broken):
    server = both.platform(broken(both, 401, b'{"message": "ex', **JSON), both.http(202, {"job_id": "j"}))
    assert both.client(server, timeout_s=0.2).update_catalog("v", b'{"products":[]}').job_id == "j"
    assert len(server.of("POST", "/token")) == 2


@pytest.mark.parametrize("broken", UNREADABLE)
def test_a_429_whose_body_cannot_be_read_is_waited_for_as_it_asks(both, broken):
    clock = both.QuickClock()
    server = both.platform(broken(both, 429, b"slow", retry_after="7"), both.http(200, LISTING))
    both.client(server, timeout_s=0.2, clock=clock).list_catalog("v")
    assert clock.slept == [7.0]


def test_what_came_of_a_refusal_before_the_line_was_cut_is_its_excerpt(both):
    server = both.platform(cut(both, 413, b"the body is too la", content_type="text/plain"))
    with pytest.raises(InvalidRequestError) as caught:
        both.client(server).update_catalog("v", b'{"products":[]}')
    assert caught.value.body_excerpt == "the body is too la"


@pytest.mark.parametrize("broken", UNREADABLE)
@pytest.mark.parametrize("status", [200, 202])
def test_a_good_answer_whose_body_cannot_be_read_stays_in_doubt(both, broken, status):
    server = both.platform(broken(both, status, b'{"job_id": ', **JSON))
    with pytest.raises(AmbiguousError) as caught:
        both.client(server, timeout_s=0.2).update_catalog("v", b'{"products":[]}')
    assert caught.value.status is None
    assert len(server.of("PUT")) == 1


@pytest.mark.parametrize("broken", UNREADABLE)
def test_a_dead_link_whose_body_cannot_be_read_is_a_dead_link(both, broken):
    server = both.platform(broken(both, 404, b"<html>gone", **PAGE))
    client = both.client(server, timeout_s=0.2, download_hosts=["127.0.0.1"], private_hosts=["127.0.0.1"])
    with pytest.raises(LinkExpiredError):
        client.download(f"{server.base_url}/v2/chains/demo-chain/catalog/logs/1.csv", io.BytesIO())
