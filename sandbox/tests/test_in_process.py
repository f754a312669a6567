"""The platform as an ASGI app in one process: without sockets; a whole run repeats from its seed."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import threading
import time
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from sqlalchemy import event

from partner_sandbox.edge import ConnectionCut
from partner_sandbox.server import create_app
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.storage import Storage, StorageClosedError
from sandbox_fixture import LiveSandbox

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"
FORM = {"grant_type": "client_credentials", "client_id": "demo-client", "client_secret": "demo-secret"}
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def run_of(seed: int) -> str:
    """Everything that was answered and sent in a small run with faults."""
    return asyncio.run(_run(seed))


async def _run(seed: int) -> str:
    events_received: list[Any] = []
    partner_side = FastAPI()

    @partner_side.post("/events")
    async def events(request: Request) -> Response:
        events_received.append([request.headers["authorization"], await request.json()])
        return Response(status_code=204 if len(events_received) % 2 else 500)

    settings = SandboxSettings(clock="virtual", clock_start=START, seed=seed, behaviour={"requests_per_minute": 600})
    app = create_app(settings, webhook_transport=httpx.ASGITransport(partner_side))
    sandbox = app.state.sandbox
    seen: list[Any] = []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://platform") as client:
        await client.put(
            "/_sandbox/chains/demo-chain/webhook", json={"catalog_url": "http://partner/events", "secret": "s"}
        )
        products = {"products": [{"sku": f"S{n}", "price": 1} for n in range(20)]}
        await client.put("/_sandbox/chains/demo-chain/vendors/store-001/products", json=products)
        rules = [{"at": "put_catalog", "kind": kind, "probability": 0.3} for kind in ("status_503", "drop_answer")]
        await client.put("/_sandbox/faults", json={"seed": seed, "rules": rules})
        token = (await client.post("/v2/oauth/token", data=FORM)).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        for number in range(25):
            body = {"products": [{"sku": f"S{number % 22}", "price": number}]}
            try:
                seen.append((await client.put(CATALOG, json=body)).json())
            except ConnectionCut as cut:
                seen.append(str(cut))
            await sandbox.work.advance(3)
        seen.append((await client.get(CATALOG)).json())
        journal = (await client.get("/_sandbox/journal")).json()
    sandbox.close()
    return json.dumps([token, seen, events_received, journal])


@pytest.mark.slow
def test_law_the_same_seed_repeats_a_whole_run_to_the_byte():
    assert run_of(7) == run_of(7)


@pytest.mark.slow
def test_another_seed_is_another_run():
    first, second = json.loads(run_of(7)), json.loads(run_of(8))
    assert first[0] != second[0]
    assert [type(answer) for answer in first[1]] != [type(answer) for answer in second[1]]


def test_nothing_happens_until_the_clock_is_advanced():
    async def run() -> tuple[int, int]:
        app = create_app(SandboxSettings(clock="virtual"))
        sandbox = app.state.sandbox
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://platform") as client:
            token = (await client.post("/v2/oauth/token", data=FORM)).json()["access_token"]
            client.headers["Authorization"] = f"Bearer {token}"
            await client.put(CATALOG, json={"products": [{"sku": "A"}]})
            await asyncio.sleep(0.05)
            before = (await client.get("/_sandbox/state")).json()["jobs"]
            await sandbox.work.advance(10)
            after = (await client.get("/_sandbox/state")).json()["jobs"]
        sandbox.close()
        return before, after

    assert asyncio.run(run()) == ({"QUEUED": 1}, {"COMPLETED": 1})


def test_the_clock_stops_at_each_instant_at_which_work_falls_due():
    async def run() -> list[str]:
        app = create_app(SandboxSettings(clock="virtual", clock_start=START, behaviour={"job_seconds": 10}))
        sandbox = app.state.sandbox
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://platform") as client:
            hook = {"catalog_url": "http://127.0.0.1:9/", "secret": "s"}
            await client.put("/_sandbox/chains/demo-chain/webhook", json=hook)
            token = (await client.post("/v2/oauth/token", data=FORM)).json()["access_token"]
            client.headers["Authorization"] = f"Bearer {token}"
            await client.put(CATALOG, json={"products": [{"sku": "A"}]})
            await sandbox.work.advance(3600)
            entries = (await client.get("/_sandbox/journal")).json()["entries"]
        sandbox.close()
        return [entry["time"][14:19] for entry in entries if entry["kind"] == "webhook"]

    assert asyncio.run(run()) == ["00:10", "00:11", "00:16", "00:46", "02:46", "12:46"]


def test_a_clock_that_moves_where_nothing_falls_due_reads_no_table():
    """A simulation moves it thousands of times; what is written in between is looked at."""

    async def run() -> tuple[list[str], dict[str, int], list[str]]:
        app = create_app(SandboxSettings(clock="virtual", behaviour={"job_seconds": 100}))
        sandbox = app.state.sandbox
        read: list[str] = []
        with sandbox.storage.begin() as connection:
            event.listen(connection.engine, "before_cursor_execute", lambda *now: read.append(now[2]))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://platform") as client:
            await sandbox.work.advance(1)
            token = (await client.post("/v2/oauth/token", data=FORM)).json()["access_token"]
            client.headers["Authorization"] = f"Bearer {token}"
            await client.put(CATALOG, json={"products": [{"sku": "A"}]})
            await sandbox.work.advance(60)
            read.clear()
            for _ in range(30):
                await sandbox.work.advance(1)
            idle = [*read]
            await sandbox.work.advance(10)
            jobs = (await client.get("/_sandbox/state")).json()["jobs"]
        sandbox.close()
        return idle, jobs, read

    idle, jobs, read = asyncio.run(run())
    assert (idle, jobs) == ([], {"COMPLETED": 1})
    assert read


@pytest.mark.parametrize("kind", ["refuse_connection", "never_answer", "drop_answer", "half_body"])
def test_a_cut_connection_is_an_error_of_its_own(kind):
    async def run() -> None:
        app = create_app(SandboxSettings(clock="virtual"))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://platform") as client:
            await client.put("/_sandbox/faults", json={"rules": [{"at": "token", "kind": kind}]})
            with pytest.raises(ConnectionCut):
                await client.post("/v2/oauth/token", data=FORM)
        app.state.sandbox.close()

    asyncio.run(run())


def test_closing_waits_for_the_transaction_under_way_and_rejects_the_next() -> None:
    storage = Storage(None)
    storage.open()
    inside, closed = threading.Event(), threading.Event()

    def close() -> None:
        inside.wait(10)
        storage.close()
        closed.set()

    closer = threading.Thread(target=close, daemon=True)
    closer.start()
    with storage.begin() as connection:
        inside.set()
        assert not closed.wait(0.2)
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1
    assert closed.wait(10)
    with pytest.raises(StorageClosedError, match="not open"), storage.begin():
        pass


@pytest.mark.parametrize("after_s", [0.0, 0.003, 0.01, 0.03])
def test_a_sandbox_stops_while_a_job_of_its_own_is_at_work(after_s: float) -> None:
    items = [{"sku": f"S{number}", "price": 1, "active": True} for number in range(3_000)]
    with LiveSandbox() as sandbox, sandbox.partner() as client:
        assert client.put(CATALOG, json={"products": items}).status_code == 202
        time.sleep(after_s)


@pytest.mark.parametrize("steps", range(6))
def test_work_that_is_woken_as_it_ends_still_ends(steps: int) -> None:
    async def end() -> bool:
        work = create_app(SandboxSettings()).state.sandbox.work
        running = asyncio.create_task(work.run_forever())
        await asyncio.sleep(0.05)
        work.wake()
        for _ in range(steps):
            await asyncio.sleep(0)
        running.cancel()
        done, _ = await asyncio.wait([running], timeout=2)
        return bool(done)

    assert asyncio.run(end())
