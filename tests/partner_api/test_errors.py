from __future__ import annotations

import copy
import datetime as dt
import logging
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partner_api import errors
from partner_api.answers import EXCERPT_CHARS_MAX, sieve

PAGE = "<!DOCTYPE html><html><head><title>x</title></head></html>"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ((400, {"message": "bad"}), errors.InvalidRequestError, "halve"),
        ((401, {}), errors.CredentialsError, "accepts none of them here"),
        ((403, {"code": "NO"}), errors.CredentialsError, "client id and secret"),
        ((403, PAGE), errors.BlockedError, "Send nothing for a while"),
        ((404, b""), errors.NotFoundError, "chain and vendor"),
        ((404, PAGE), errors.NotFoundError, "base address"),
        ((404, {"message": "platform not found"}), errors.NotEnabledError, "account manager"),
        ((405, {}), errors.UnexpectedAnswerError, "dialect"),
        ((408, {}), errors.UnavailableError, "Try again later"),
        ((409, {}), errors.UnexpectedAnswerError, "dialect"),
        ((413, {}), errors.InvalidRequestError, "smaller bodies"),
        ((418, {}), errors.UnexpectedAnswerError, "dialect"),
        ((422, {}), errors.InvalidRequestError, "halve"),
        ((429, {}), errors.ThrottledError, "Wait"),
        ((429, PAGE), errors.BlockedError, "Send nothing for a while"),
        ((500, {}), errors.UnavailableError, "Try again later"),
        ((501, {}), errors.NotEnabledError, "account manager"),
        ((503, PAGE), errors.UnavailableError, "Try again later"),
        ((200, PAGE), errors.UnexpectedAnswerError, "dialect"),
        ((200, b"null"), errors.UnexpectedAnswerError, "dialect"),
        ((200, b"[" * 100_000), errors.UnexpectedAnswerError, "dialect"),
        ((200, {"products": "none"}), errors.UnexpectedAnswerError, "dialect"),
    ],
)
def test_each_rejection_raises_its_error_with_the_next_action(tools, answer, error, message):
    server = tools.platform(tools.http(*answer, x_request_id="req-42"))
    with pytest.raises(error, match=message) as caught:
        tools.client(server).list_catalog("v")
    assert type(caught.value) is error
    text = str(caught.value)
    assert (caught.value.status, caught.value.operation) == (answer[0], "list_catalog")
    assert text.startswith("list_catalog: ")
    assert text.count(caught.value.remedy) == 1
    assert "\n" not in text
    if answer[0] != 200:
        assert caught.value.request_id == "req-42"


def test_the_client_uses_its_own_request_id_if_the_platform_returns_none(tools):
    server = tools.platform(tools.http(404, b""))
    with pytest.raises(errors.NotFoundError) as caught:
        tools.client(server, new_id=iter(["a", "b"]).__next__).list_catalog("v")
    assert caught.value.request_id == "b"
    assert [one.headers["x-request-id"] for one in server.seen] == ["a", "b"]


def test_an_error_keeps_its_text_when_copied_and_pickled():
    error = errors.ThrottledError(
        "the platform asks to wait", operation="export", status=429, request_id="r", retry_after_s=3.0
    )
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(twin), twin.retry_after_s, type(twin)) == (str(error), 3.0, errors.ThrottledError)


def test_neither_error_nor_log_shows_a_secret_that_the_platform_echoes(tools, caplog):
    echo = {
        "message": "client canary-secret-9f2c used Bearer canary-token-1 from mail canary@example.com phone +49 170 1234567",
        "authorization": "Bearer canary-token-1",
        "jwt": "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2",
        "link": "https://bucket.example/log.csv?X-Amz-Signature=canary-signature",
    }
    server = tools.platform(tools.http(400, echo))
    with caplog.at_level(logging.DEBUG), pytest.raises(errors.InvalidRequestError) as caught:
        tools.client(server).update_catalog("v", b"{}")
    shown = f"{caught.value} {caught.value!r} {caught.value.__dict__} {caplog.text}"
    for secret in ("canary-secret", "canary-token", "canary@", "canary-signature", "1234567", "eyJ", "SflKx"):
        assert secret not in shown


def test_of_an_orders_error_only_code_and_message_are_shown_and_no_number_that_could_be_a_phone(tools):
    body = {
        "code": "CART",
        "message": "no, call 0170 1234567",
        "customer": {"name": "canary-name", "phone_number": "+491701234567"},
    }
    server = tools.platform(tools.http(400, body))
    with pytest.raises(errors.InvalidRequestError) as caught:
        tools.client(server).get_order("5b8e6f3c-0000-4000-8000-000000000000")
    assert caught.value.body_excerpt == "CART no, call [hidden]"
    assert "canary-name" not in str(caught.value)


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


@given(st.text(max_size=2000), st.booleans())
def test_an_excerpt_is_one_short_line_without_the_secrets(text, personal):
    shown = sieve(f"{text}s3cr3t-value{text} ", ["s3cr3t-value"], personal=personal)
    assert len(shown) <= EXCERPT_CHARS_MAX
    assert "s3cr3t-value" not in shown
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Basic Y2FuYXJ5OnB3",
        '{"access_token":"Y2FuYXJ5OnB3"}',
        "client_secret=Y2FuYXJ5OnB3&x=1",
        "password: 'Y2FuYXJ5OnB3'",
        "X-Amz-Credential=Y2FuYXJ5OnB3",
        "api_key = Y2FuYXJ5OnB3",
        "see https://h.example/a?sig=Y2FuYXJ5OnB3",
        "token%3DY2FuYXJ5OnB3 token=Y2FuYXJ5OnB3",
    ],
)
def test_what_is_named_like_a_secret_is_hidden(text):
    assert "token=Y2FuYXJ5OnB3" not in sieve(text)
    if "%3D" not in text:
        assert "Y2FuYXJ5OnB3" not in sieve(text)


def test_a_barcode_in_a_rejection_stays_readable():
    assert "4006381333931" in sieve("barcode 4006381333931 has no right check digit")


def test_every_error_class_names_the_next_action():
    def all_of(kind):
        return {kind}.union(*(all_of(child) for child in kind.__subclasses__()))

    for kind in all_of(errors.PartnerError):
        assert kind.__doc__
        assert kind("x").remedy
    assert issubclass(errors.BlockedError, errors.ThrottledError)
    assert not issubclass(errors.AmbiguousError, errors.UnavailableError)


@pytest.mark.parametrize("unit", ["a", "eyJ", "token", "http://", "a@", "+1", "1 ", "sig=", "\u202e"])
def test_a_hostile_text_costs_linear_time(unit):
    began_s = time.thread_time()
    for personal in (True, False):
        sieve(unit * 1_000_000, ["secret"], personal=personal)
    assert time.thread_time() - began_s < 2


_A_DAY = dt.datetime(2026, 3, 1, tzinfo=dt.UTC), dt.datetime(2026, 3, 2, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        (lambda client: client.list_catalog("v"), 200, "the listing holds no products"),
        (lambda client: client.categories("v"), 200, "the answer holds no categories"),
        (lambda client: client.job_status("1"), 200, "the client requested job 1"),
        (lambda client: client.promotion_status("1"), 200, "the client requested job 1"),
        (lambda client: client.update_catalog("v", b"{}"), 202, "named no job"),
        (lambda client: client.list_orders("v", *_A_DAY), 200, "no history path"),
    ],
)
def test_the_error_of_an_unreadable_answer_names_its_request_and_shows_an_excerpt(tools, call, status, message):
    server = tools.platform(tools.http(status, {"job_id": "2", "message": "odd"}, x_request_id="req-9"))
    if "named no job" in message:
        server = tools.platform(tools.http(status, {"message": "odd"}, x_request_id="req-9"))
    client = tools.client(server)
    with pytest.raises((errors.UnexpectedAnswerError, errors.AmbiguousError), match=message) as caught:
        call(client)
    assert (caught.value.status, caught.value.request_id) == (status, "req-9")
    assert "odd" in caught.value.body_excerpt
