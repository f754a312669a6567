from __future__ import annotations

import copy
import pickle

import pytest

from partner_api import errors
from partner_api.excerpt import EXCERPT_CHARS_MAX


def test_an_error_keeps_its_text_when_copied_and_pickled():
    error = errors.ThrottledError(
        "the platform asks to wait", operation="export", status=429, request_id="r", retry_after_s=3.0
    )
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(twin), twin.retry_after_s, type(twin)) == (str(error), 3.0, errors.ThrottledError)


def test_an_errors_body_is_read_no_further_than_needed(tools):
    sent = []

    def endless(seen, send):
        send(b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(2000):
            send(b"8000\r\n" + b"x" * 32768 + b"\r\n")
            sent.append(32768)

    server = tools.platform(endless)
    with pytest.raises(errors.UnavailableError) as caught:
        tools.client(server, attempts_max=1).list_catalog("v")
    assert len(caught.value.body_excerpt) <= EXCERPT_CHARS_MAX
    assert sum(sent) < 2000 * 32768


def test_an_answer_without_end_is_cut_at_its_limit(tools):
    from partner_api.dialect import Dialect

    def endless(seen, send):
        send(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            send(b"8000\r\n" + b"x" * 32768 + b"\r\n")

    server = tools.platform(endless)
    with pytest.raises(errors.UnexpectedAnswerError, match="longer than 1000000 bytes"):
        tools.client(server, dialect=Dialect(answer_max_bytes=1_000_000)).list_catalog("v")


def test_every_error_class_names_the_next_action():
    def all_of(kind):
        return {kind}.union(*(all_of(child) for child in kind.__subclasses__()))

    for kind in all_of(errors.PartnerError):
        assert kind.__doc__
        assert kind("x").remedy
    assert issubclass(errors.BlockedError, errors.ThrottledError)
    assert not issubclass(errors.AmbiguousError, errors.UnavailableError)
