"""Each rejection becomes the error with the next action."""

from __future__ import annotations

import datetime as dt

import pytest

from partner_api import errors

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
