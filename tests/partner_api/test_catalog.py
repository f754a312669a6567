from __future__ import annotations

import inspect
import json
import socket

import httpx
import pytest

from partner_api import PartnerClient, StreamedBody
from partner_api.dialect import Dialect
from partner_api.errors import (
    AmbiguousError,
    InvalidRequestError,
    MisconfiguredError,
    NotEnabledError,
    NotFoundError,
    UnavailableError,
)

PATH = "/v2/chains/demo-chain/vendors/store-001/catalog"
BODY = b'{"products":[{"sku":"A","price":1.005}]}'


def test_a_body_goes_out_as_it_is_with_its_exact_length_and_a_token(tools):
    server = tools.platform(tools.http(202, {"job_id": "j1", "job_status": "QUEUED"}))
    job = tools.client(server).update_catalog("store-001", BODY)
    assert (job.job_id, job.status) == ("j1", "QUEUED")
    (sent,) = server.of("PUT")
    assert (sent.path, sent.body, sent.complete) == (PATH, BODY, True)
    assert sent.headers["content-length"] == str(len(BODY))
    assert "transfer-encoding" not in sent.headers
    assert sent.headers["connection"] == "close"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["authorization"] == "Bearer canary-token-1"


def test_a_streamed_body_is_never_held_whole_and_has_its_exact_length(tools):
    class Chunks:
        def __iter__(self):
            return (b"x" * 65536 for _ in range(160))

    server = tools.platform(tools.http(202, {"job_id": "j1", "job_status": "QUEUED"}))
    tools.client(server).update_catalog("store-001", StreamedBody(Chunks(), 160 * 65536))
    (sent,) = server.of("PUT")
    assert sent.headers["content-length"] == str(160 * 65536)
    assert len(sent.body) == 160 * 65536


def test_a_body_is_sent_again_whole_after_a_401(tools):
    server = tools.platform(
        tools.http(401, {"message": "expired"}), tools.http(202, {"job_id": "j1", "job_status": "QUEUED"})
    )
    tools.client(server).update_catalog("store-001", StreamedBody([BODY[:7], BODY[7:]], len(BODY)))
    assert [one.body for one in server.of("PUT")] == [BODY, BODY]
    assert [one.headers["authorization"] for one in server.of("PUT")] == [
        "Bearer canary-token-1",
        "Bearer canary-token-2",
    ]


def test_a_one_shot_iterator_is_no_body():
    with pytest.raises(TypeError, match="re-iterable"):
        StreamedBody(iter([b"x"]), 1)


@pytest.mark.parametrize("chunks", [[b"12345"], [b"123456789", b"0", b"1"], [b"1234567890", b"1"], []])
def test_a_body_of_another_length_than_announced_is_never_sent_whole(tools, chunks):
    server = tools.platform(tools.http(202, {"job_id": "j1"}))
    with pytest.raises(InvalidRequestError, match="announced with 10 bytes"):
        tools.client(server).update_catalog("store-001", StreamedBody(chunks, 10))
    assert not any(one.complete for one in server.of("PUT"))


def test_a_body_over_the_limit_is_never_sent(tools):
    server = tools.platform(tools.http(202, {"job_id": "j1"}))
    client = tools.client(server, dialect=Dialect(body_max_bytes=len(BODY)))
    client.update_catalog("store-001", BODY)
    before = server.connections
    with pytest.raises(InvalidRequestError, match="smaller batches"):
        client.update_catalog("store-001", BODY + b" ")
    assert server.connections == before


def test_a_job_id_may_be_a_number(tools):
    server = tools.platform(tools.http(202, {"job_id": 17, "status": "queued"}))
    job = tools.client(server).update_catalog("store-001", BODY)
    assert (job.job_id, job.status) == ("17", "QUEUED")


def test_the_older_answer_200_with_a_sku_is_work_done_at_once(tools):
    server = tools.platform(tools.http(200, {"sku": "A"}))
    job = tools.client(server).update_catalog("store-001", BODY)
    assert (job.job_id, job.status, job.raw) == (None, None, {"sku": "A"})


@pytest.mark.parametrize(
    "answer",
    [
        (202, {}),
        (202, {"job_id": None}),
        (202, {"sku": "A"}),
        (202, b""),
        (202, b"[]"),
        (202, b'{"job_id"'),
        (200, "<!doctype html><title>Sign in</title>"),
        (500, {"message": "oops"}),
        (502, "<html>bad gateway</html>"),
        (503, b""),
        (504, b""),
    ],
)
def test_an_answer_that_leaves_the_outcome_open_is_ambiguous_and_not_repeated(tools, answer):
    server = tools.platform(tools.http(*answer))
    with pytest.raises(AmbiguousError) as caught:
        tools.client(server).update_catalog("store-001", BODY)
    assert caught.value.status == answer[0]
    assert caught.value.operation == "put_catalog"
    assert len(server.of("PUT")) == 1


def _hang_up(seen, send):
    """Closes the connection without an answer."""


def _half(seen, send):
    send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 50\r\n\r\n{")


def _garbage(seen, send):
    send(b"SSH-2.0-OpenSSH_9.6\r\n")


def _bad_gzip(seen, send):
    send(b"HTTP/1.1 202 Accepted\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd")


@pytest.mark.parametrize("script", [_hang_up, _half, _garbage, _bad_gzip])
def test_a_lost_answer_is_ambiguous_and_not_repeated(tools, script):
    server = tools.platform(script)
    with pytest.raises(AmbiguousError) as caught:
        tools.client(server).update_catalog("store-001", BODY)
    assert len(server.of("PUT")) == 1
    assert caught.value.request_id


def test_a_server_that_never_answers_is_ambiguous_after_the_timeout(tools):
    def silent(seen, send):
        server.released.wait(10)

    server = tools.platform(silent)
    with pytest.raises(AmbiguousError):
        tools.client(server, timeout_s=0.2).update_catalog("store-001", BODY)
    assert len(server.of("PUT")) == 1


def test_a_refused_connection_sends_nothing_and_is_retried(tools):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    clock = tools.QuickClock()
    with pytest.raises(UnavailableError, match="nothing was changed"):
        tools.client(f"http://127.0.0.1:{port}", clock=clock).update_catalog("store-001", BODY)
    assert len(clock.slept) == 2
    assert 0.5 <= clock.slept[0] <= 1.0 <= clock.slept[1] <= 2.0


def test_a_platform_that_is_not_enabled_differs_from_a_wrong_vendor(tools):
    server = tools.platform(
        tools.http(404, {"message": "Platform Not Found"}), tools.http(404, {"message": "vendor unknown"})
    )
    client = tools.client(server)
    with pytest.raises(NotEnabledError, match="account manager"):
        client.update_catalog("store-001", BODY)
    with pytest.raises(NotFoundError):
        client.update_catalog("store-001", BODY)


def test_the_error_of_a_400_shows_the_platforms_message_and_the_remedy(tools):
    server = tools.platform(
        tools.http(400, {"code": "BAD", "message": "barcode 40063813339x1 is invalid"}, x_request_id="req-7")
    )
    with pytest.raises(InvalidRequestError, match="halve") as caught:
        tools.client(server).update_catalog("store-001", BODY)
    error = caught.value
    assert (error.status, error.request_id, error.code) == (400, "req-7", "BAD")
    assert "40063813339x1" in error.body_excerpt


def test_an_early_rejection_is_read_while_the_client_still_sends_the_body(tools):
    def reject(seen, send):
        send(tools.http(413, {"message": "too large"}))

    server = tools.platform(reject)
    with pytest.raises(InvalidRequestError, match="smaller bodies"):
        tools.client(server).update_catalog("store-001", b"x" * 300_000)


@pytest.mark.parametrize(
    ("vendor", "path"),
    [
        ("a/../b", "/v2/chains/demo-chain/vendors/a%2F..%2Fb/catalog"),
        ("ä b", "/v2/chains/demo-chain/vendors/%C3%A4%20b/catalog"),
        ("x?y=1#z", "/v2/chains/demo-chain/vendors/x%3Fy%3D1%23z/catalog"),
        ("{chain_id}", "/v2/chains/demo-chain/vendors/%7Bchain_id%7D/catalog"),
    ],
)
def test_a_vendor_id_never_leaves_its_segment_of_the_path(tools, vendor, path):
    server = tools.platform(tools.http(202, {"job_id": "j1"}))
    tools.client(server).update_catalog(vendor, BODY)
    assert server.of("PUT")[0].target == path


@pytest.mark.parametrize("vendor", ["", ".", "..", None])
def test_a_vendor_id_that_is_no_segment_is_an_error(tools, vendor):
    server = tools.platform(tools.http(202, {"job_id": "j1"}))
    with pytest.raises(MisconfiguredError, match="vendor_id"):
        tools.client(server).update_catalog(vendor, BODY)
    assert server.connections == 0


def test_the_transport_is_a_parameter_and_no_socket_is_opened(tools):
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        body = {"access_token": "t"} if request.url.path.endswith("token") else {"job_id": "j", "job_status": "QUEUED"}
        return httpx.Response(202, text=json.dumps(body))

    with PartnerClient(
        "https://platform.example", "c", tools.credentials, transport=httpx.MockTransport(answer)
    ) as client:
        assert client.update_catalog("v", BODY).job_id == "j"
    assert asked == ["/v2/oauth/token", "/v2/chains/c/vendors/v/catalog"]


@pytest.mark.parametrize(
    "base",
    [
        "ftp://x",
        "x.example",
        "https://user:canary-pass@x.example",
        "https://x.example?a=1",
        "http://x.example",
        "",
        "https://",
        "https://ä.example",
    ],
)
def test_the_error_of_a_base_address_without_https_hides_its_password(tools, base):
    with pytest.raises(MisconfiguredError) as caught:
        tools.client(base)
    assert "canary" not in str(caught.value)


def test_a_base_address_may_have_a_path_and_a_private_name_may_be_http(tools):
    client = tools.client("http://sandbox:8080/partner/", private_hosts=["sandbox"])
    assert client.url("/v2/x") == "http://sandbox:8080/partner/v2/x"


def test_help_shows_the_signature_of_a_call(tools):
    client = tools.client("https://x.example")
    method = getattr(client, "inner", client).update_catalog
    assert list(inspect.signature(method).parameters) == ["vendor_id", "body", "priority"]
    assert method.__doc__.startswith("Sends changes of one vendor")
