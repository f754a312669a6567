from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import SecretStr

from partner_api import ClientCredentials, MemoryTokenStore, PartnerClient, StaticToken
from partner_api.dialect import Dialect
from partner_api.errors import BlockedError, CredentialsError, ThrottledError, UnavailableError, UnexpectedAnswerError

LISTING = {"page_number": 1, "page_size": 1, "total_pages": 1, "products": []}


class ManualClock:
    """A clock that a test moves."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


def test_the_token_request_is_form_urlencoded_without_a_bearer(tools):
    server = tools.platform(tools.http(200, LISTING))
    tools.client(server).list_catalog("v")
    (sent,) = server.of("POST", "/v2/oauth/token")
    assert sent.headers["content-type"] == "application/x-www-form-urlencoded"
    assert sent.body == b"grant_type=client_credentials&client_id=canary-client&client_secret=canary-secret-9f2c"
    assert "authorization" not in sent.headers


def test_one_token_serves_many_calls(tools):
    server = tools.platform(tools.http(200, LISTING))
    client = tools.client(server)
    for _ in range(5):
        client.list_catalog("v")
    assert len(server.of("POST")) == 1


def test_fifty_threads_make_one_token_request(tools):
    class Slow(tools.Platform):
        def __call__(self, seen, send):
            if seen.method == "POST":
                time.sleep(0.1)  # long enough that every thread finds no token
            super().__call__(seen, send)

    server = tools.server(Slow(tools.http(200, LISTING)))
    client = PartnerClient(server.base_url, "c", tools.credentials)
    with client, ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda _: client.list_catalog("v"), range(50)))
    assert len(server.of("POST")) == 1
    assert len(server.of("GET")) == 50


def test_clients_with_one_store_share_one_token(tools):
    server = tools.platform(tools.http(200, LISTING))
    store = MemoryTokenStore()
    for _ in range(3):
        tools.client(server, token_store=store).list_catalog("v")
    assert len(server.of("POST")) == 1


def test_a_token_rejected_under_thirty_threads_is_renewed_once(tools):
    rejected = threading.Event()

    def answer(seen, send):
        stale = seen.headers["authorization"] == "Bearer canary-token-1" and rejected.is_set()
        send(tools.http(401, {"message": "expired"}) if stale else tools.http(200, LISTING))

    server = tools.platform(answer)
    client = PartnerClient(server.base_url, "c", tools.credentials)
    with client, ThreadPoolExecutor(30) as pool:
        client.list_catalog("v")
        rejected.set()
        list(pool.map(lambda _: client.list_catalog("v"), range(30)))
    assert len(server.of("POST")) == 2


def test_a_token_is_renewed_a_margin_before_its_end_by_relative_time(tools):
    clock = ManualClock()
    server = tools.platform(tools.http(200, LISTING), expires_in=7200)
    client = tools.client(server, token_store=MemoryTokenStore(clock))
    client.list_catalog("v")
    clock.now_s += 7200 - 301
    client.list_catalog("v")
    assert len(server.of("POST")) == 1
    clock.now_s += 2
    client.list_catalog("v")
    assert len(server.of("POST")) == 2


def test_a_short_lived_token_is_used_for_nine_tenths_of_its_life(tools):
    clock = ManualClock()
    server = tools.platform(tools.http(200, LISTING), expires_in=20)
    client = tools.client(server, token_store=MemoryTokenStore(clock))
    client.list_catalog("v")
    clock.now_s += 17
    client.list_catalog("v")
    assert len(server.of("POST")) == 1
    clock.now_s += 1.5
    client.list_catalog("v")
    assert len(server.of("POST")) == 2


@pytest.mark.parametrize("expires_in", [None, 0, -5, "nan", "soon", 10**9, [], True])
def test_an_absurd_lifetime_becomes_the_interfaces_two_hours(tools, expires_in):
    store = MemoryTokenStore(ManualClock())
    server = tools.platform(tools.http(200, LISTING), expires_in=expires_in)
    tools.client(server, token_store=store).list_catalog("v")
    held = store.load()
    assert 7100 < held.remaining_s <= 7200


def test_a_lifetime_counts_from_before_the_request_of_the_token(tools):
    clock = tools.QuickClock()

    class Slow(tools.Platform):
        def __call__(self, seen, send):
            clock.slept.append(100.0 if seen.method == "POST" else 0.0)
            super().__call__(seen, send)

    store = MemoryTokenStore(ManualClock())
    server = tools.server(Slow(tools.http(200, LISTING)))
    tools.client(server, token_store=store, clock=clock).list_catalog("v")
    assert 7000 < store.load().remaining_s <= 7100


def test_while_another_caller_renews_the_valid_token_is_used(tools):
    clock = ManualClock()
    store = MemoryTokenStore(clock)
    server = tools.platform(tools.http(200, LISTING))
    client = tools.client(server, token_store=store)
    client.list_catalog("v")
    clock.now_s += 7000
    assert store.lease(60)  # another caller
    client.list_catalog("v")
    assert len(server.of("POST")) == 1
    clock.now_s += 61  # the other caller never returns
    client.list_catalog("v")
    assert len(server.of("POST")) == 2


def _within_the_margin(tools, *answer):
    """Clock, server and client; the token of the client ends soon, and each request for a new one has this answer."""
    soon = threading.Event()

    class Refusing(tools.Platform):
        def __call__(self, seen, send):
            if seen.method == "POST" and soon.is_set():
                send(tools.http(*answer))
                return
            super().__call__(seen, send)

    clock = ManualClock()
    server = tools.server(Refusing(tools.http(200, LISTING)))
    client = tools.client(server, token_store=MemoryTokenStore(clock))
    client.list_catalog("v")
    soon.set()
    clock.now_s += 7200 - 200
    return clock, server, client


@pytest.mark.parametrize("trouble", [(503, b""), (200, b""), (200, "<!doctype html><p>down")])
def test_a_token_that_is_still_valid_serves_while_the_platform_gives_no_new_one(tools, trouble):
    clock, server, client = _within_the_margin(tools, *trouble)
    client.list_catalog("v")
    assert [seen.headers["authorization"] for seen in server.of("GET")] == ["Bearer canary-token-1"] * 2
    clock.now_s += 201  # it has expired
    with pytest.raises((UnavailableError, UnexpectedAnswerError)):
        client.list_catalog("v")


def test_credentials_that_the_platform_rejects_are_reported_although_the_old_token_is_still_valid(tools):
    *_, client = _within_the_margin(tools, 401, {"message": "the client is unknown"})
    with pytest.raises(CredentialsError):
        client.list_catalog("v")


def test_the_wait_for_the_renewal_of_another_caller_ends(tools):
    store = MemoryTokenStore(ManualClock())  # time stands still: the lease never ends
    assert store.lease(60)
    server = tools.platform(tools.http(200, LISTING))
    with pytest.raises(UnavailableError, match="no token came within 120 s"):
        tools.client(server, token_store=store).list_catalog("v")
    assert server.connections == 0


def test_a_rejected_new_token_ends_the_call_after_one_repeat(tools):
    server = tools.platform(tools.http(401, {"message": "no"}))
    with pytest.raises(CredentialsError) as caught:
        tools.client(server).list_catalog("v")
    assert caught.value.status == 401
    assert "Client id and secret are right" in str(caught.value)
    assert (len(server.of("POST")), len(server.of("GET"))) == (2, 2)


def test_a_static_token_is_used_as_it_is_and_never_renewed(tools):
    server = tools.platform(tools.http(200, LISTING), tools.http(401, {"message": "no"}))
    client = tools.client(server, credentials=StaticToken(SecretStr("canary-token-9")))
    client.list_catalog("v")
    assert server.seen[0].headers["authorization"] == "Bearer canary-token-9"
    with pytest.raises(CredentialsError):
        client.list_catalog("v")
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((400, {"error": "invalid_client", "error_description": "client_id is wrong"}), CredentialsError),
        ((401, {"message": "wrong"}), CredentialsError),
        ((403, {"error": "forbidden"}), CredentialsError),
        ((403, "<html>blocked</html>"), BlockedError),
        ((429, {"message": "50 a minute"}), ThrottledError),
        ((500, b""), UnavailableError),
        ((200, b""), UnexpectedAnswerError),
        ((200, {"token_type": "Bearer"}), UnexpectedAnswerError),
        ((200, {"access_token": "two words"}), UnexpectedAnswerError),
        ((200, {"access_token": "line\r\nX-Evil: 1"}), UnexpectedAnswerError),
        ((200, {"access_token": ["x"]}), UnexpectedAnswerError),
        ((200, "<!doctype html><p>sign in"), UnexpectedAnswerError),
    ],
)
def test_each_token_answer_has_its_error_and_frees_the_lease(tools, answer, error):
    store = MemoryTokenStore()
    server = tools.server(lambda seen, send: send(tools.http(*answer)))
    with pytest.raises(error) as caught:
        tools.client(server, token_store=store).list_catalog("v")
    assert caught.value.operation == "token"
    assert "canary-secret" not in str(caught.value)
    assert store.lease(1)
    assert not server.of("GET")


def test_a_token_request_is_repeated_when_its_answer_is_lost(tools):
    class Lossy(tools.Platform):
        def __call__(self, seen, send):
            if seen.method == "POST" and self.tokens == 0:
                self.tokens = 1
                return
            super().__call__(seen, send)

    server = tools.server(Lossy(tools.http(200, LISTING)))
    tools.client(server).list_catalog("v")
    assert len(server.of("POST")) == 2


def test_the_token_body_may_be_json_by_dialect(tools):
    server = tools.platform(tools.http(200, LISTING))
    tools.client(server, dialect=Dialect(token_body="json")).list_catalog("v")
    assert server.seen[0].headers["content-type"] == "application/json"
    assert server.seen[0].body.startswith(b'{"grant_type"')


@pytest.mark.parametrize("text", ["", " ", "with blank", "line\nend", "ünïcode", "\x00"])
def test_a_static_token_that_no_header_can_hold_is_an_error_that_hides_it(text):
    with pytest.raises(CredentialsError) as caught:
        StaticToken(SecretStr(text))
    assert not text.strip() or text not in str(caught.value)


def test_empty_credentials_are_an_error():
    with pytest.raises(CredentialsError):
        ClientCredentials("id", SecretStr(""))


def test_no_printed_text_shows_a_secret(tools):
    store = MemoryTokenStore()
    store.save(store.lease(1), SecretStr("canary-token"), 10)
    client = tools.client("https://x.example", token_store=store)
    shown = f"{tools.credentials!r} {StaticToken(SecretStr('canary-token'))!r} {store!r} {store.load()!r} {client!r}"
    assert "canary-secret" not in shown
    assert "canary-token" not in shown


def test_a_lease_belongs_to_one_caller_and_a_late_discard_keeps_the_newer_token():
    store = MemoryTokenStore(ManualClock())
    lease = store.lease(60)
    assert lease
    assert not store.lease(60)
    store.save(lease, SecretStr("new"), 10)
    store.discard(SecretStr("old"))
    assert store.load().secret.get_secret_value() == "new"
    lease = store.lease(60)
    assert lease
    store.release(lease)
    assert store.lease(60)
    store.discard(SecretStr("new"))
    assert store.load() is None


def test_the_repeat_after_a_401_takes_no_attempt_away(tools):
    server = tools.platform(tools.http(401, {}), tools.http(503, b""), tools.http(200, LISTING))
    tools.client(server, attempts_max=2).list_catalog("v")
    assert len(server.of("GET")) == 3
