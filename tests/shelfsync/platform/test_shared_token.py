from __future__ import annotations

import base64
import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient, token_renewal
from partner_api.session import OpenGate, SystemClock
from shelfsync.platform.shared_token import KEPT_S, KEY_BLOCK, KEY_COST, SharedTokens, slow_key, token
from shelfsync.store.metadata import instant

PLATFORM = {"base_url": "https://p.example", "chain": "c", "client_id": "id"}


class _Clock(SystemClock):
    now_s = 0.0

    def monotonic_s(self):
        return self.now_s


@pytest.fixture
def tokens(engine):
    return SharedTokens(engine, SystemClock(), **PLATFORM, client_secret=SecretStr("s3cret"))


def test_what_one_worker_saves_another_reads(engine, tokens):
    tokens.save(tokens.lease(60), SecretStr("jwt-1"), 7200)
    other = SharedTokens(engine, SystemClock(), **PLATFORM, client_secret=SecretStr("s3cret"))
    held = other.load()
    assert held.secret.get_secret_value() == "jwt-1"
    assert 7190 < held.remaining_s <= 7200


def test_neither_token_nor_secret_is_readable_in_the_database(engine, tokens):
    tokens.save(tokens.lease(60), SecretStr("jwt-canary"), 7200)
    with engine.connect() as connection:
        row = bytes(connection.execute(sa.select(token.c.encrypted)).scalar_one())
        everything = row + connection.execute(sa.select(token.c.fingerprint)).scalar_one().encode()
    assert b"jwt-canary" not in everything
    assert b"s3cret" not in everything


def test_a_reader_of_the_row_cannot_test_guesses_of_the_secret_quickly(engine, tokens):
    """Neither by the fingerprint nor by opening the token: what a fast hash makes of the secret fits neither."""
    tokens.save(tokens.lease(60), SecretStr("jwt-1"), 7200)
    with engine.connect() as connection:
        row = connection.execute(sa.select(token.c.encrypted, token.c.fingerprint)).one()
    identity = "\n".join(PLATFORM.values())
    fast = [
        hashlib.new(name, result.encode()).digest()
        for name in ("md5", "sha1", "sha256", "sha512")
        for result in ("s3cret", f"{identity}s3cret", f"{identity}\ns3cret", f"s3cret\n{identity}")
    ]
    assert row.fingerprint not in {one.hex() for one in fast}
    for info in (b"", identity.encode()):
        key = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(b"s3cret")
        with pytest.raises(InvalidToken):
            Fernet(base64.urlsafe_b64encode(key)).decrypt(bytes(row.encrypted))


def test_a_guess_costs_time_and_memory():
    began_s = time.process_time()
    slow_key.__wrapped__("guess", "salt")
    assert time.process_time() - began_s > 0.01
    assert 128 * KEY_COST * KEY_BLOCK >= 16 * 1024 * 1024


def test_another_client_secret_cannot_read_it(engine, tokens):
    tokens.save(tokens.lease(60), SecretStr("jwt-1"), 7200)
    assert SharedTokens(engine, SystemClock(), **PLATFORM, client_secret=SecretStr("other")).load() is None


def test_one_of_all_workers_may_ask_for_a_token(engine, tokens):
    other = SharedTokens(engine, SystemClock(), **PLATFORM, client_secret=SecretStr("s3cret"))
    assert not other.is_leased()
    mine = tokens.lease(60)
    assert mine
    assert not other.lease(60)
    assert other.is_leased()
    tokens.save(mine, SecretStr("jwt"), 10)
    assert not other.is_leased()
    assert other.lease(0)
    mine = tokens.lease(60)
    assert mine
    tokens.release(mine)
    assert other.lease(60)


def test_a_worker_that_comes_back_too_late_neither_frees_nor_overwrites_the_lease_of_another(engine, tokens):
    other = SharedTokens(engine, SystemClock(), **PLATFORM, client_secret=SecretStr("s3cret"))
    late = tokens.lease(0)
    assert late
    theirs = other.lease(60)
    assert theirs
    tokens.release(late)
    tokens.save(late, SecretStr("late"), 7200)
    assert tokens.is_leased()
    assert tokens.load() is None
    assert tokens.lease(60, late) is None
    longer = other.lease(120, theirs)
    assert longer
    other.release(theirs)
    assert tokens.is_leased(), "its own lease was made longer meanwhile"
    other.save(longer, SecretStr("new"), 7200)
    assert tokens.load().secret.get_secret_value() == "new"


def test_a_process_uses_a_token_for_a_minute_without_another_look(engine):
    clock = _Clock()
    tokens, other = (
        SharedTokens(engine, clock, **PLATFORM, client_secret=SecretStr("s3cret")) for clock in (clock, SystemClock())
    )

    def read():
        held = tokens.load()
        return held.secret.get_secret_value(), round(held.remaining_s)

    other.save(other.lease(60), SecretStr("first"), 7200)
    assert read() == ("first", 7200)
    other.save(other.lease(60), SecretStr("second"), 3600)
    clock.now_s = KEPT_S - 1
    assert read() == ("first", 7200 - KEPT_S + 1)
    clock.now_s = KEPT_S
    assert read() == ("second", 3600)
    tokens.save(tokens.lease(60), SecretStr("third"), 30)
    assert read() == ("third", 30)
    other.save(other.lease(60), SecretStr("fourth"), 7200)
    tokens.discard(SecretStr("third"))
    assert read() == ("fourth", 7200)


def test_a_process_whose_token_another_has_renewed_takes_no_slot_for_it(engine):
    """310 s are left when the first process reads the token, and the client renews one of two hours 300 s before its end."""

    class Gate(OpenGate):
        def admit(self, operation, priority, vendors):
            pytest.fail(f"a slot for {operation}")

    clock, secret = _Clock(), SecretStr("s3cret")
    first, other = (SharedTokens(engine, clock, **PLATFORM, client_secret=secret) for clock in (clock, SystemClock()))
    other.save(other.lease(60), SecretStr("old"), 7200)
    with engine.begin() as connection:
        connection.execute(sa.update(token).values(expires_at=instant() + sa.text("interval '310 seconds'")))
    credentials = ClientCredentials(PLATFORM["client_id"], secret)
    with PartnerClient("https://p.example", "c", credentials, gate=Gate(), token_store=first) as client:

        def used():
            return token_renewal.token(client, "catalog", lambda *_: pytest.fail("a request"))

        assert used().get_secret_value() == "old"
        other.save(other.lease(60), SecretStr("new"), 7200)
        clock.now_s = 20.0
        assert used().get_secret_value() == "new"


def test_a_process_uses_no_token_beyond_its_end(engine):
    clock = _Clock()
    tokens = SharedTokens(engine, clock, **PLATFORM, client_secret=SecretStr("s3cret"))
    tokens.save(tokens.lease(60), SecretStr("short"), 5)
    assert tokens.load().remaining_s > 4
    with engine.begin() as connection:
        connection.execute(sa.update(token).values(encrypted=None))
    clock.now_s = 6.0
    assert tokens.load() is None


LOOKS_FOR_TOKEN = "encrypted IS NOT NULL"


def _at(engine, moment, words, act):
    """Calls `act` once, before or after the next statement with these words. Returns a list that gets all later ones."""
    statements = []

    @sa.event.listens_for(engine, f"{moment}_cursor_execute")
    def listen(_connection, _cursor, statement, *_):
        if words in statement:
            statements.append(statement)
            if len(statements) == 1:
                act()

    return statements


def test_a_token_that_another_thread_reads_while_it_is_rejected_is_not_kept(engine, tokens):
    tokens.save(tokens.lease(60), SecretStr("rejected"), 7200)
    assert tokens.load() is not None
    reads = _at(engine, "after", LOOKS_FOR_TOKEN, lambda: None)
    _at(engine, "before", "UPDATE ledger.token", lambda: [tokens.load(), tokens.load()])
    tokens.discard(SecretStr("rejected"))
    assert len(reads) == 2, "the table alone has it, until the rejection is committed"
    assert tokens.load() is None


def test_a_token_whose_reading_ends_after_its_rejection_is_not_kept(engine, tokens):
    tokens.save(tokens.lease(60), SecretStr("rejected"), 7200)
    _at(engine, "after", LOOKS_FOR_TOKEN, lambda: tokens.discard(SecretStr("rejected")))
    assert tokens.load() is not None
    assert tokens.load() is None


def test_a_token_that_another_thread_read_before_a_renewal_and_has_after_it_is_not_kept(engine, tokens):
    tokens.save(tokens.lease(60), SecretStr("old"), 7200)
    lease = tokens.lease(60)
    read, saved = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        _at(engine, "after", LOOKS_FOR_TOKEN, lambda: [read.set(), saved.wait(30)])
        _at(engine, "before", "UPDATE ledger.token", lambda: [pool.submit(tokens.load), read.wait(30)])
        tokens.save(lease, SecretStr("new"), 7200)
        saved.set()
    assert tokens.load().secret.get_secret_value() == "new"


def test_an_expired_lease_without_a_new_holder_still_saves_its_token(tokens):
    late = tokens.lease(0)
    tokens.save(late, SecretStr("late"), 7200)
    assert tokens.load().secret.get_secret_value() == "late"


def test_a_rejected_token_is_deleted_and_a_newer_one_stays(tokens):
    tokens.save(tokens.lease(60), SecretStr("old"), 100)
    tokens.save(tokens.lease(60), SecretStr("new"), 100)
    tokens.discard(SecretStr("old"))
    assert tokens.load().secret.get_secret_value() == "new"
    tokens.discard(SecretStr("new"))
    assert tokens.load() is None
