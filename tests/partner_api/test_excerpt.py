"""An excerpt of an answer is one short line without secrets and personal data."""

from __future__ import annotations

import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partner_api import errors
from partner_api.excerpt import EXCERPT_CHARS_MAX, sieve


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


@pytest.mark.parametrize("unit", ["a", "eyJ", "token", "http://", "a@", "+1", "1 ", "sig=", "\u202e"])
def test_a_hostile_text_costs_linear_time(unit):
    began_s = time.thread_time()
    for personal in (True, False):
        sieve(unit * 1_000_000, ["secret"], personal=personal)
    assert time.thread_time() - began_s < 2
