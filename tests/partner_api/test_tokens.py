from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import SecretStr

from partner_api import AsyncPartnerClient, ClientCredentials, MemoryTokenStore, PartnerClient, StaticToken
from partner_api.dialect import Dialect
from partner_api.errors import BlockedError, CredentialsError, ThrottledError, UnavailableError, UnexpectedAnswerError

LISTING = {"page_number": 1, "page_size": 1, "total_pages": 1, "products": []}


class Hands:
    """A clock moved by hand."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


def test_the_token_request_is_form_urlencoded_without_a_bearer(both):
    server = both.platform(both.http(200, LISTING))
    both.client(server).list_catalog("v")
    (sent,) = server.of("POST", "/v2/oauth/token")
    assert sent.headers["content-type"] == "application/x-www-form-urlencoded"
    assert sent.body == b"grant_type=client_credentials&client_id=canary-client&client_secret=canary-secret-9f2c"
    assert "authorization" not in sent.headers


def test_one_token_serves_many_calls(both):
    server = both.platform(both.http(200, LISTING))
    client = both.client(server)
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


def test_fifty_tasks_make_one_token_request(tools):
    server = tools.platform(tools.http(200, LISTING))

    async def run():
        async with AsyncPartnerClient(server.base_url, "c", tools.credentials) as client:
            await asyncio.gather(*(client.list_catalog("v") for _ in range(50)))

    asyncio.run(run())
    assert len(server.of("POST")) == 1


def test_clients_with_one_store_share_one_token(tools):
    server = tools.platform(tools.http(200, LISTING))
    store = MemoryTokenStore()
    for _ in range(3):
        tools.client(server, token_store=store).list_catalog("v")
    assert len(server.of("POST")) == 1


def test_a_token_refused_under_thirty_threads_is_renewed_once(tools):
    refused = threading.Event()

    def answer(seen, send):
        stale = seen.headers["authorization"] == "Bearer canary-token-1" and refused.is_set()
        send(tools.http(401, {"message": "expired"}) if stale else tools.http(200, LISTING))

    server = tools.platform(answer)
    client = PartnerClient(server.base_url, "c", tools.credentials)
    with client, ThreadPoolExecutor(30) as pool:
        client.list_catalog("v")
        refused.set()
        list(pool.map(lambda _: client.list_catalog("v"), range(30)))
    assert len(server.of("POST")) == 2


def test_a_token_is_renewed_a_margin_before_its_end_by_relative_time(both):
    hands = Hands()
    server = both.platform(both.http(200, LISTING), expires_in=7200)
    client = both.client(server, token_store=MemoryTokenStore(hands))
    client.list_catalog("v")
    hands.now_s += 7200 - 301
    client.list_catalog("v")
    assert len(server.of("POST")) == 1
    hands.now_s += 2
    client.list_catalog("v")
    assert len(server.of("POST")) == 2


def test_a_short_lived_token_is_used_for_nine_tenths_of_its_life(tools):
    hands = Hands()
    server = tools.platform(tools.http(200, LISTING), expires_in=20)
    client = tools.client(server, token_store=MemoryTokenStore(hands))
    client.list_catalog("v")
    hands.now_s += 17
    client.list_catalog("v")
    assert len(server.of("POST")) == 1
    hands.now_s += 1.5
    client.list_catalog("v")
    assert len(server.of("POST")) == 2


@pytest.mark.parametrize("said", [None, 0, -5, "nan", "soon", 10**9, [], True])
def test_an_absurd_lifetime_becomes_the_interfaces_two_hours(tools, said):
    store = MemoryTokenStore(Hands())
    server = tools.platform(tools.http(200, LISTING), expires_in=said)
    tools.client(server, token_store=store).list_catalog("v")
    held = store.load()
    assert 7100 < held.remaining_s <= 7200


def test_a_lifetime_counts_from_before_the_token_was_asked_for(tools):
    clock = tools.QuickClock()

    class Slow(tools.Platform):
        def __call__(self, seen, send):
            clock.slept.append(100.0 if seen.method == "POST" else 0.0)
            super().__call__(seen, send)

    store = MemoryTokenStore(Hands())
    server = tools.server(Slow(tools.http(200, LISTING)))
    tools.client(server, token_store=store, clock=clock).list_catalog("v")
    assert 7000 < store.load().remaining_s <= 7100


def test_while_another_renews_a_token_that_has_not_ended_is_used(tools):
    hands = Hands()
    store = MemoryTokenStore(hands)
    server = tools.platform(tools.http(200, LISTING))
    client = tools.client(server, token_store=store)
    client.list_catalog("v")
    hands.now_s += 7000
    assert store.lease(60)  # the other one
    client.list_catalog("v")
    assert len(server.of("POST")) == 1
    hands.now_s += 61  # the other one never came back
    client.list_catalog("v")
    assert len(server.of("POST")) == 2


def test_waiting_for_anothers_renewal_ends(tools):
    store = MemoryTokenStore(Hands())  # time stands still: the lease never ends
    assert store.lease(60)
    server = tools.platform(tools.http(200, LISTING))
    with pytest.raises(UnavailableError, match="no token came within 120 s"):
        tools.client(server, token_store=store).list_catalog("v")
    assert server.connections == 0


def test_a_fresh_token_that_is_refused_ends_it_after_one_repeat(both):
    server = both.platform(both.http(401, {"message": "no"}))
    with pytest.raises(CredentialsError) as caught:
        both.client(server).list_catalog("v")
    assert caught.value.status == 401
    assert (len(server.of("POST")), len(server.of("GET"))) == (2, 2)


def test_a_static_token_is_used_as_it_is_and_never_renewed(both):
    server = both.platform(both.http(200, LISTING), both.http(401, {"message": "no"}))
    client = both.client(server, credentials=StaticToken(SecretStr("canary-token-9")))
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
def test_each_token_answer_has_its_error_and_frees_the_lease(both, answer, error):
    store = MemoryTokenStore()
    server = both.server(lambda seen, send: send(both.http(*answer)))
    with pytest.raises(error) as caught:
        both.client(server, token_store=store).list_catalog("v")
    assert caught.value.operation == "token"
    assert "canary-secret" not in str(caught.value)
    assert store.lease(1)
    assert not server.of("GET")


def test_a_token_request_is_repeated_when_its_answer_is_lost(both):
    class Lossy(both.Platform):
        def __call__(self, seen, send):
            if seen.method == "POST" and self.tokens == 0:
                self.tokens = 1
                return
            super().__call__(seen, send)

    server = both.server(Lossy(both.http(200, LISTING)))
    both.client(server).list_catalog("v")
    assert len(server.of("POST")) == 2


def test_the_token_body_may_be_json_by_dialect(tools):
    server = tools.platform(tools.http(200, LISTING))
    tools.client(server, dialect=Dialect(token_body="json")).list_catalog("v")
    assert server.seen[0].headers["content-type"] == "application/json"
    assert server.seen[0].body.startswith(b'{"grant_type"')


@pytest.mark.parametrize("text", ["", " ", "with blank", "line\nend", "ünïcode", "\x00"])
def test_a_static_token_that_cannot_stand_in_a_header_is_refused_and_not_shown(text):
    with pytest.raises(CredentialsError) as caught:
        StaticToken(SecretStr(text))
    assert not text.strip() or text not in str(caught.value)


def test_empty_credentials_are_refused():
    with pytest.raises(CredentialsError):
        ClientCredentials("id", SecretStr(""))


def test_nothing_that_is_printed_shows_a_secret(tools):
    store = MemoryTokenStore()
    store.save(store.lease(1), SecretStr("canary-token"), 10)
    client = tools.client("https://x.example", token_store=store)
    shown = f"{tools.credentials!r} {StaticToken(SecretStr('canary-token'))!r} {store!r} {store.load()!r} {client!r} {client.session!r}"
    assert "canary-secret" not in shown
    assert "canary-token" not in shown


def test_a_lease_belongs_to_one_and_a_late_discard_spares_the_newer_token():
    store = MemoryTokenStore(Hands())
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


def test_the_repeat_after_a_401_takes_no_attempt_away(both):
    server = both.platform(both.http(401, {}), both.http(503, b""), both.http(200, LISTING))
    both.client(server, attempts_max=2).list_catalog("v")
    assert len(server.of("GET")) == 3
