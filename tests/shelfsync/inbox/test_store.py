"""An event that the database cannot store is rejected alone, and for good."""

from __future__ import annotations

import asyncio
import json
import random

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from shelfsync.inbox.event_body import Received, read
from shelfsync.inbox.store import InboxStore, TablesMissingError, UnstorableEventError
from shelfsync.receiver.endpoints import create_app
from shelfsync.settings import WebhookSettings


def _text(chance, length=255):
    """Characters of four bytes that nothing packs."""
    return "".join(chr(chance.randrange(0x10000, 0x10FFFF)) for _ in range(length))


def _body(order_id, status, updated_at):
    return json.dumps({"order_id": order_id, "status": status, "sys": {"updated_at": updated_at}}).encode()


def _order(order_id, status, updated_at):
    return read(_body(order_id, status, updated_at))


def _job(number):
    return read(json.dumps({"job_id": number, "status": "COMPLETED"}).encode())


def _poison():
    """What reading never makes: a number too long for its index."""
    return Received("job", "job:poison", _text(random.Random(2), 4000), None, b"{}")


async def _put_all(database_url, events):
    store = InboxStore(database_url)
    got = await asyncio.gather(*(store.put(event) for event in events), return_exceptions=True)
    await store.close()
    return got


def test_an_event_whose_identity_is_too_long_for_an_index_is_stored_and_known_again(database_url):
    chance = random.Random(1)
    long = _order(_text(chance), _text(chance), _text(chance))
    good = [_job(number) for number in range(5)]
    assert asyncio.run(_put_all(database_url, [*good[:2], long, *good[2:]])) == [True] * 6
    assert asyncio.run(_put_all(database_url, [long])) == [False]


@pytest.mark.parametrize("place", [0, 3, 5])
def test_a_poisoned_event_is_rejected_alone_and_its_neighbours_are_stored(database_url, place):
    events = [_job(number) for number in range(5)]
    events.insert(place, _poison())
    got = asyncio.run(_put_all(database_url, events))
    assert isinstance(got[place], UnstorableEventError)
    assert [one for one in got if one is True] == [True] * 5
    with psycopg.connect(database_url) as connection:
        stored = connection.execute("SELECT platform_job_id FROM inbox.event ORDER BY event_id").fetchall()
    assert [row[0] for row in stored] == ["0", "1", "2", "3", "4"]


def test_a_missing_table_does_not_count_as_a_poisoned_event(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE inbox.event RENAME TO gone")
    got = asyncio.run(_put_all(database_url, [_job(1), _job(2)]))
    assert [type(one) for one in got] == [TablesMissingError] * 2


def test_an_event_that_can_never_be_stored_is_answered_422(database_url, caplog):
    class Poisoned(InboxStore):
        """The real store, given an event that no body makes today."""

        async def put(self, _event):
            return await super().put(_poison())

    secret = "canary-webhook-4"  # on a line of its own: a traceback in a log shows the lines of the test that it passes through
    settings = WebhookSettings(secret=SecretStr(secret))

    async def call():
        app = create_app(Poisoned(database_url), settings)
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as web:
            return await web.post("/webhook", json={"job_id": 7}, headers={"Authorization": secret})

    answer = asyncio.run(call())
    assert answer.status_code == 422
    assert answer.json() == {
        "status": "rejected",
        "reason": "the database rejects the content of the event (SQLSTATE 54000)",
    }
    assert "retry-after" not in answer.headers
    assert "SQLSTATE 54000" in caplog.text
