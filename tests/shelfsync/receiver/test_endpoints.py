"""The receiver as an ASGI app, on a real inbox."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from pydantic import SecretStr

from shelfsync.inbox.events import event
from shelfsync.inbox.refusals import refusal
from shelfsync.inbox.store import InboxStore, StoreUnavailableError
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.receiver.endpoints import create_app
from shelfsync.settings import WebhookSettings

SECRET = "canary-webhook-3"
SETTINGS = WebhookSettings(secret=SecretStr(SECRET), secret_previous=SecretStr("canary-webhook-former"))
RIGHT = {"Authorization": SECRET}
JOB = {
    "job_id": "17",
    "status": "COMPLETED",
    "download_url": "https://h/link-canary",
    "platform_vendor_id": "store-001",
}
ORDER = {
    "order_id": "6f1c1a52-6a5c-4d5e-9f4e-0d7d0f6f7a11",
    "status": "RECEIVED",
    "sys": {"updated_at": "2026-01-01T00:00:00Z"},
    "customer": {"phone_number": "+49-phone-canary"},
}


@contextlib.asynccontextmanager
async def _receiver(database_url, settings=SETTINGS, *, write_timeout_s=3.0, **choices):
    app = create_app(InboxStore(database_url, write_timeout_s=write_timeout_s), settings, **choices)
    async with app.router.lifespan_context(app), _caller(app) as caller:
        yield caller


def _caller(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://receiver")


def _call(database_url, *requests, settings=SETTINGS, **choices):
    """The answers to these requests, one after the other."""

    async def run():
        async with _receiver(database_url, settings, **choices) as caller:
            return [await caller.post("/webhook", **request) for request in requests]

    return asyncio.run(run())


def _rows(engine):
    with engine.connect() as connection:
        return connection.execute(sa.select(event).order_by(event.c.event_id)).all()


def test_an_event_is_stored_as_it_came(database_url, engine):
    body = json.dumps(JOB, indent=3).encode()
    (answer,) = _call(database_url, {"content": body, "headers": RIGHT})
    assert (answer.status_code, answer.json()) == (200, {"status": "stored"})
    (row,) = _rows(engine)
    assert (row.kind, row.platform_job_id, row.vendor, bytes(row.body)) == ("job", "17", "store-001", body)
    assert row.processed_at is None


@pytest.mark.parametrize("path", ["/webhook", "/webhook/catalog", "/webhook/orders"])
def test_orders_and_jobs_may_come_to_any_of_the_addresses(database_url, engine, path):
    async def run():
        async with _receiver(database_url) as caller:
            return [await caller.post(path, json=body, headers=RIGHT) for body in (JOB, ORDER, {"type": "NEWS"})]

    assert [answer.status_code for answer in asyncio.run(run())] == [200, 200, 200]
    assert [row.kind for row in _rows(engine)] == ["job", "order", "unknown"]


WRONG = [
    {},
    {"Authorization": ""},
    {"Authorization": "wrong"},
    {"Authorization": SECRET.upper()},
    {"Authorization": f"Bearer {SECRET}"},
    {"X-Authorization": SECRET},
    [("Authorization", SECRET), ("Authorization", SECRET)],
    [("Authorization", SECRET), ("authorization", "wrong")],
]


def test_without_the_secret_nothing_is_stored(database_url, engine):
    answers = _call(database_url, *({"json": JOB, "headers": headers} for headers in WRONG))
    assert [answer.status_code for answer in answers] == [401] * len(WRONG)
    assert _rows(engine) == []


def test_calls_with_a_wrong_secret_are_counted_for_the_watch_and_nothing_else_of_them_is_kept(database_url, engine):
    _call(database_url, *({"json": JOB, "headers": headers} for headers in WRONG))
    _call(database_url, {"content": b"no JSON", "headers": RIGHT})
    with engine.connect() as connection:
        rows = connection.execute(sa.select(refusal.c.endpoint, refusal.c.calls).order_by(refusal.c.refusal_id))
        assert [tuple(row) for row in rows] == [("inbox", 1), ("inbox", len(WRONG) - 1)]


def test_with_no_secret_configured_every_call_is_rejected(database_url, engine):
    presented = [{}, {"Authorization": ""}, {"Authorization": "None"}, RIGHT]
    answers = _call(database_url, *({"json": JOB, "headers": one} for one in presented), settings=WebhookSettings())
    assert {answer.status_code for answer in answers} == {401}
    assert _rows(engine) == []


def test_both_secrets_are_taken_while_one_is_changed_and_the_header_has_any_case(database_url, engine):
    answers = _call(
        database_url,
        {"json": JOB, "headers": {"AUTHORIZATION": SECRET}},
        {"json": ORDER, "headers": {"authorization": "canary-webhook-former"}},
    )
    assert [answer.status_code for answer in answers] == [200, 200]
    assert len(_rows(engine)) == 2


def test_a_hundred_repeats_at_once_are_one_event_and_all_are_answered_200(database_url, engine):
    async def run():
        async with _receiver(database_url) as one, _receiver(database_url) as other:
            calls = [caller.post("/webhook", json=JOB, headers=RIGHT) for caller in (one, other) for _ in range(50)]
            return await asyncio.gather(*calls)

    answers = asyncio.run(run())
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["status"] for answer in answers).count("stored") == 1
    assert len(_rows(engine)) == 1


def test_a_replayed_old_event_changes_nothing(database_url, engine):
    done = {**JOB, "job_id": "18"}
    answers = _call(database_url, *({"json": body, "headers": RIGHT} for body in (JOB, done, JOB)))
    assert [answer.json()["status"] for answer in answers] == ["stored", "stored", "known"]
    assert [row.platform_job_id for row in _rows(engine)] == ["17", "18"]


def test_a_later_event_of_a_known_order_is_no_repeat(database_url, engine):
    cancelled = {**ORDER, "status": "CANCELLED"}
    later = {**ORDER, "sys": {"updated_at": "2026-01-01T00:05:00Z"}}
    _call(database_url, *({"json": body, "headers": RIGHT} for body in (ORDER, cancelled, later, ORDER)))
    assert len(_rows(engine)) == 3


NO_EVENTS = [
    (b"{", {}, 400),
    (b"[]", {}, 400),
    (b'{"job_id": 1, "price": NaN}', {}, 400),
    (b'{"job_id": 1, "job_id": 2}', {}, 400),
    (b'{"a":' * 100_000, {}, 400),
    (b"\x1f\x8b\x08" + b"\x00" * 100, {"Content-Encoding": "gzip"}, 415),
    (json.dumps({**JOB, "pad": "x" * 70_000}).encode(), {}, 413),
    (json.dumps({"pad": "x" * 70_000}).encode(), {}, 413),
    (json.dumps({**ORDER, "pad": "x" * 1_100_000}).encode(), {}, 413),
]


def test_a_body_that_is_no_event_is_rejected_and_not_stored(database_url, engine):
    requests = ({"content": content, "headers": {**RIGHT, **headers}} for content, headers, _ in NO_EVENTS)
    answers = _call(database_url, *requests)
    assert [answer.status_code for answer in answers] == [status for _, _, status in NO_EVENTS]
    assert {answer.headers["connection"] for answer in answers} == {"close"}
    assert _rows(engine) == []


def test_an_order_may_be_larger_than_a_job(database_url, engine):
    (answer,) = _call(database_url, {"json": {**ORDER, "pad": "x" * 900_000}, "headers": RIGHT})
    assert answer.status_code == 200
    assert len(_rows(engine)) == 1


def test_a_body_without_a_length_is_read_no_further_than_its_limit(database_url, engine):
    taken = itertools.count()

    async def endless():
        while next(taken) < 1000:
            yield b"x" * 65_536

    async def run():
        async with _receiver(database_url) as caller:
            return await caller.post("/webhook", content=endless(), headers=RIGHT)

    assert asyncio.run(run()).status_code == 413
    assert next(taken) <= 20
    assert _rows(engine) == []


def test_the_body_of_a_caller_without_the_secret_is_not_read(database_url):
    async def unread():
        raise AssertionError("the body was read")
        yield b""

    async def run():
        async with _receiver(database_url) as caller:
            return await caller.post("/webhook", content=unread())

    # httpx's transport offers the body; the app must not ask for it
    assert asyncio.run(run()).status_code == 401


def test_a_body_that_does_not_come_ends_in_408(database_url, engine):
    async def slow():
        yield b'{"job_id":'
        await asyncio.sleep(60)

    async def run():
        async with _receiver(database_url, body_timeout_s=0.2) as caller:
            return await caller.post("/webhook", content=slow(), headers=RIGHT)

    assert asyncio.run(run()).status_code == 408
    assert _rows(engine) == []


def test_nothing_else_is_served(database_url):
    async def run():
        async with _receiver(database_url) as caller:
            calls = (("GET", "/webhook"), ("POST", "/other"), ("GET", "/docs"), ("GET", "/openapi.json"))
            return [(await caller.request(*call, headers=RIGHT)).status_code for call in calls]

    assert asyncio.run(run()) == [405, 404, 404, 404]


def test_it_works_mounted_in_another_app_that_runs_no_lifespan_of_it(database_url, engine):
    async def run():
        store = InboxStore(database_url)
        outer = FastAPI()
        outer.mount("/shelfsync", create_app(store, SETTINGS))
        async with _caller(outer) as caller:
            answer = await caller.post("/shelfsync/webhook/catalog", json=JOB, headers=RIGHT)
            health = await caller.get("/shelfsync/health")
        await store.close()
        return answer.status_code, health.status_code

    assert asyncio.run(run()) == (200, 200)
    assert len(_rows(engine)) == 1


def test_a_new_job_event_is_announced_once_after_its_commit(database_url, engine):
    async def run():
        async with (
            await psycopg.AsyncConnection.connect(database_url, autocommit=True) as listener,
            _receiver(database_url) as caller,
        ):
            await listener.execute("LISTEN shelfsync_inbox")
            for body in (JOB, JOB, ORDER, {**JOB, "job_id": 18}):
                await caller.post("/webhook", json=body, headers=RIGHT)
            notices = [
                (notice.payload, notice.payload in [row.platform_job_id for row in _rows(engine)])
                async for notice in listener.notifies(timeout=5, stop_after=2)
            ]
            notices += [notice.payload async for notice in listener.notifies(timeout=0.2)]
            return notices

    assert asyncio.run(run()) == [("17", True), ("18", True)]


def test_neither_body_nor_secret_is_ever_logged(database_url, caplog):
    caplog.set_level(logging.DEBUG)
    private = [JOB, ORDER, {**ORDER, "customer": {"phone_number": "+49-phone-canary"}, "price": float("nan")}]
    requests = [
        {"content": json.dumps(body).encode(), "headers": headers}
        for body in private
        for headers in (RIGHT, {"Authorization": "guess-canary"})
    ]
    answers = _call(database_url, *requests)
    assert {answer.status_code for answer in answers} == {200, 400, 401}
    assert "canary" not in caplog.text
    assert all("canary" not in answer.text for answer in answers)
    assert "rejected 1 calls with 401" in caplog.text


def test_a_database_without_tables_is_not_reported_as_away(empty_database_url, caplog):
    async def run():
        async with _receiver(empty_database_url) as caller:
            answer = await caller.post("/webhook", json=JOB, headers=RIGHT)
            return answer.status_code, await caller.get("/health")

    status, health = asyncio.run(run())
    missing = "the tables do not exist yet; `shelfsync check` creates them"
    assert (status, health.status_code, health.json()) == (503, 503, {"status": missing})
    assert f"1 events could not be stored: {missing}" in caplog.text


@pytest.mark.slow
def test_while_the_database_is_away_no_event_is_answered_200_and_none_is_lost(reachable_folder):
    from shelfsync.migrations.upgrade import upgrade
    from shelfsync.store.engine import create_engine

    server = EmbeddedPostgres(reachable_folder / "inbox-away", fsync=False)
    dsn = server.ensure_started()
    engine = create_engine(dsn)

    async def run():
        async with _receiver(dsn) as caller:

            async def post(number):
                return (await caller.post("/webhook", json={**JOB, "job_id": number}, headers=RIGHT)).status_code

            answers = [await post(1)]
            await asyncio.to_thread(server.stop)
            away = await caller.post("/webhook", json={**JOB, "job_id": 2}, headers=RIGHT)
            health = [(await caller.get("/health")).status_code]
            await asyncio.to_thread(server.ensure_started)
            answers += [away.status_code, await post(2), await post(3)]
            health.append((await caller.get("/health")).status_code)
            return answers, health, away.headers["retry-after"]

    try:
        upgrade(engine)
        assert asyncio.run(run()) == ([200, 503, 200, 200], [503, 200], "5")
        assert [row.platform_job_id for row in _rows(engine)] == ["1", "2", "3"]
    finally:
        engine.dispose()
        server.stop()


def test_a_restart_of_the_database_between_two_events_costs_none(database_url, engine):
    """Its connection is dead; the event is stored over a new one."""

    async def run():
        async with _receiver(database_url) as caller:
            first = await caller.post("/webhook", json=JOB, headers=RIGHT)
            with engine.begin() as connection:
                connection.execute(
                    sa.text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE application_name = 'shelfsync inbox' AND datname = current_database()"
                    )
                )
            second = await caller.post("/webhook", json={**JOB, "job_id": 18}, headers=RIGHT)
            return first.status_code, second.status_code

    assert asyncio.run(run()) == (200, 200)
    assert len(_rows(engine)) == 2


def test_a_table_that_is_locked_too_long_is_no_success(database_url, engine):
    async def run():
        async with _receiver(database_url, write_timeout_s=0.5) as caller:
            with engine.begin() as connection:
                connection.execute(sa.text("LOCK TABLE inbox.event IN ACCESS EXCLUSIVE MODE"))
                locked = await caller.post("/webhook", json=JOB, headers=RIGHT)
            again = await caller.post("/webhook", json=JOB, headers=RIGHT)
            return locked.status_code, again.status_code

    assert asyncio.run(run()) == (503, 200)
    assert len(_rows(engine)) == 1


def test_a_disk_that_is_full_is_no_success_and_nothing_is_half_stored(database_url, engine):
    """The server's own answer to it, for the last of three events that share a commit."""
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$"
            )
        )
        connection.execute(
            sa.text(
                "CREATE TRIGGER disk_full BEFORE INSERT ON inbox.event FOR EACH ROW"
                " WHEN (new.platform_job_id = '3') EXECUTE FUNCTION disk_full()"
            )
        )

    async def run():
        async with _receiver(database_url) as caller:
            calls = [caller.post("/webhook", json={**JOB, "job_id": n}, headers=RIGHT) for n in (1, 2, 3)]
            full = await asyncio.gather(*calls)
            stored = len(_rows(engine))
            with engine.begin() as connection:
                connection.execute(sa.text("DROP TRIGGER disk_full ON inbox.event"))
            again = [await caller.post("/webhook", json={**JOB, "job_id": n}, headers=RIGHT) for n in (1, 2, 3)]
            return full, stored, again

    full, stored, again = asyncio.run(run())
    assert full[2].status_code == 503
    assert sum(answer.status_code == 200 for answer in full) == stored
    assert [answer.status_code for answer in again] == [200, 200, 200]
    assert {row.platform_job_id for row in _rows(engine)} == {"1", "2", "3"}


@pytest.mark.slow
def test_more_events_than_memory_allows_are_answered_503(database_url, engine):
    from shelfsync.inbox.event_body import read
    from shelfsync.inbox.waiting_events import WAITING_BYTES_MAX

    async def run():
        store = InboxStore(database_url, write_timeout_s=60.0)
        with engine.begin() as connection:
            connection.execute(sa.text("LOCK TABLE inbox.event IN ACCESS EXCLUSIVE MODE"))
            large = "x" * 1_000_000
            puts = [
                asyncio.create_task(store.put(read(json.dumps({**ORDER, "order_id": str(n), "pad": large}).encode())))
                for n in range(100)
            ]
            await asyncio.sleep(0)
            done, _ = await asyncio.wait(puts, return_when=asyncio.FIRST_COMPLETED)
            rejected = sum(isinstance(one.exception(), StoreUnavailableError) for one in done)
        answers = await asyncio.gather(*puts, return_exceptions=True)
        await store.close()
        return rejected, sum(answer is True for answer in answers)

    rejected, stored = asyncio.run(run())
    assert rejected == 100 - WAITING_BYTES_MAX // 1_000_200
    assert stored == 100 - rejected == len(_rows(engine))
