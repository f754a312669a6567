"""The sandbox dies with -9 at any instant, in the middle of its traffic or of its start: what it acknowledged is there when it starts again."""

from __future__ import annotations

import asyncio
import csv
import gc
import itertools
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from sqlalchemy import Engine, event

from partner_sandbox import job_runner, jobs
from partner_sandbox.server import create_app
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.storage import FILE_NAME, Storage
from sandbox_fixture import WebhookReceiver

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from sqlalchemy import Connection

    from partner_sandbox.sandbox import Sandbox

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[1]
CHAIN = "/v2/chains/demo-chain"
STEER = "/_sandbox/chains/demo-chain"
FORM = {"grant_type": "client_credentials", "client_id": "demo-client", "client_secret": "demo-secret"}
CHOICES = (
    *("job_seconds=0.05", "review_seconds=0.05", "requests_per_minute=1000000", "token_requests_per_minute=1000000"),
    *("promotion_propagation_s=0", "link_life_s=86400", "webhook_backoff_s=[0.1,0.2,0.5,1,2]"),
)
SEED, KILLS = 20, 20
SKUS = [f"P{number}" for number in range(40)]
MANY = 25_000
"""Items of an update that runs in more than one piece."""


class Victim:
    """`partner-sandbox --data FOLDER` as a process, on two ports that stay the same."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            ports = [one.getsockname()[1], other.getsockname()[1]]
        self.base_url = f"http://127.0.0.1:{ports[0]}"
        sets = [word for choice in CHOICES for word in ("--set", choice)]
        where = ("--data", str(folder), "--port", str(ports[0]), "--storage-port", str(ports[1]))
        self._command = [sys.executable, "-m", "partner_sandbox.cli", *where, "--seed", str(SEED), *sets]
        self._process: subprocess.Popen[str] | None = None

    def spawn(self) -> None:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        self._process = subprocess.Popen(self._command, env=environment, **pipes)

    def start(self) -> None:
        """Spawns it and waits until it answers."""
        self.spawn()
        assert self._process is not None
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        assert first.startswith("partner-sandbox on "), first + self._process.stdout.read()

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        printed, _ = self._process.communicate(timeout=30)
        assert "Traceback" not in printed, printed


class Traffic:
    """What clients send and people steer, and what of it was acknowledged."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.tokens: list[str] = []
        self.jobs: dict[str, tuple[str, list[str]]] = {}
        """Kind and keys of each acknowledged job."""
        self.prices: dict[str, list[int]] = {sku: [1] for sku in SKUS}
        """The last acknowledged price of each SKU, then those that were sent and not acknowledged."""
        self.orders: dict[str, list[str]] = {}
        """The states that each order may be in, the same way."""
        self.assortments: list[int] = [0]
        """Of store-004, the same way."""
        self.acknowledged = 0
        self._number = 0
        self._lock = threading.Lock()

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.tokens[-1]}"} if self.tokens else {}
        return httpx.Client(base_url=self.base_url, headers=headers, timeout=60, verify=False, trust_env=False)

    def number(self) -> int:
        with self._lock:
            self._number += 1
            return self._number

    def until_it_dies(self, act: Callable[[httpx.Client], None]) -> None:
        """Acts again and again until no answer comes."""
        with self.client() as client:
            while True:
                try:
                    act(client)
                except httpx.TransportError:
                    return
                with self._lock:
                    self.acknowledged += 1
                time.sleep(0.05)

    def push(self, client: httpx.Client) -> None:
        price = self.number()
        skus = SKUS[price % 7 :: 3]
        for sku in skus:
            self.prices[sku].append(price)
        body = {"products": [{"sku": sku, "price": price} for sku in skus]}
        self._job("update", skus, client.put(f"{CHAIN}/vendors/store-001/catalog", json=body))
        for sku in skus:
            self.prices[sku] = [price]

    def push_many(self, client: httpx.Client) -> None:
        skus = [f"M{number}" for number in range(MANY)]
        body = {"products": [{"sku": sku, "price": 1} for sku in skus]}
        self._job("update", skus, client.put(f"{CHAIN}/vendors/store-002/catalog", json=body))
        time.sleep(1)

    def export(self, client: httpx.Client) -> None:
        answer = client.post(f"{CHAIN}/vendors/store-001/catalog/export")
        self._job("export", sorted([*SKUS, "FIXED"]), answer)

    def create(self, client: httpx.Client) -> None:
        skus = [f"C{self.number()}" for _ in range(5)]
        products = [{"sku": sku, "title": {"en_GB": sku}} for sku in skus]
        answer = client.post(f"{CHAIN}/catalog", json={"vendors": ["store-003"], "products": products})
        self._job("creation", skus, answer)

    def promote(self, client: httpx.Client) -> None:
        name = f"Offer {self.number()}"
        body = {
            "vendors": ["store-001", "store-002"],
            "type": "STRIKETHROUGH",
            "active": True,
            "reason": "COMPETITIVENESS",
            "display_name": {"en_GB": name},
            "conditions": {"start_time": "2024-01-01T00:00:00.000Z", "end_time": "2099-01-01T00:00:00.000Z"},
            "discount": [
                {"active": True, "discount_subtype": "PERCENTAGE", "discount_value": 10, "sku": ["FIXED", "NONE"]}
            ],
        }
        self._job("promotion", [name], client.put(f"{CHAIN}/promotion", json=body))

    def order(self, client: httpx.Client) -> None:
        wanted = {"items": [{"sku": "FIXED", "quantity": 1}]}
        answer = client.post("/_sandbox/chains/demo-chain/vendors/store-001/orders", json=wanted)
        assert answer.status_code == 200, answer.text
        order = answer.json()
        number, item = order["order_id"], order["items"][0]
        self.orders[number] = ["RECEIVED", "READY_FOR_PICKUP"]
        picked = {"_id": item["_id"], "sku": "FIXED", "status": "IN_CART"}
        body = {"order_id": number, "status": "READY_FOR_PICKUP", "items": [picked]}
        answer = client.put(f"{CHAIN}/orders/{number}", json=body)
        assert answer.status_code == 200, answer.text
        self.orders[number] = ["READY_FOR_PICKUP"]

    def steer(self, client: httpx.Client) -> None:
        price = self.number()
        self.assortments.append(price)
        products = [{"sku": f"A{number}", "price": price} for number in range(300)]
        answer = client.put(f"{STEER}/vendors/store-004/products", json={"products": products})
        assert answer.status_code == 200, answer.text
        self.assortments = [price]

    def look(self, client: httpx.Client) -> None:
        self.sign_in(client)
        for path in (f"{CHAIN}/vendors/store-001/catalog?page_size=20", f"{CHAIN}/vendors/store-001/status"):
            assert client.get(path).status_code == 200

    def sign_in(self, client: httpx.Client) -> None:
        answer = client.post("/v2/oauth/token", data=FORM)
        assert answer.status_code == 200, answer.text
        self.tokens.append(answer.json()["access_token"])

    def _job(self, kind: str, keys: list[str], answer: httpx.Response) -> None:
        assert answer.status_code == 202, answer.text
        assert answer.json()["job_id"] not in self.jobs
        self.jobs[answer.json()["job_id"]] = (kind, keys)

    @property
    def actions(self) -> list[Callable[[httpx.Client], None]]:
        small = [self.push, self.export, self.create, self.promote, self.order, self.steer, self.look]
        return [*small, self.push_many]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone afterwards: its file holds tokens and names."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def prepared(traffic: Traffic, receiver: WebhookReceiver) -> None:
    with traffic.client() as client:
        products = [{"sku": sku, "price": 1} for sku in [*SKUS, "FIXED"]]
        hook = {"catalog_url": receiver.url, "order_url": receiver.url, "secret": "s"}
        for path, body in (
            (f"{STEER}/vendors/store-001/products", {"products": products}),
            (f"{STEER}/vendors/store-002/products", {"products": [{"sku": "M1"}, {"sku": "FIXED", "price": 2}]}),
            (f"{STEER}/vendors/store-004/products", {"products": [{"sku": "A0", "price": 0}]}),
            (f"{STEER}/webhook", hook),
            (STEER, {"creation_enabled": True}),
        ):
            assert client.put(path, json=body).status_code == 200


def quiescent(client: httpx.Client) -> None:
    end = time.monotonic() + 120
    while True:
        state = client.get("/_sandbox/state").json()
        waiting = [state["jobs"].get(name) for name in jobs.OPEN] + [state["deliveries"].get("pending")]
        if not any(waiting):
            return
        assert time.monotonic() < end, state
        time.sleep(0.05)


def checked(client: httpx.Client, job_id: str, kind: str, keys: list[str]) -> None:
    """An acknowledged job ended as if nothing had happened, and its log has each key once."""
    if kind == "promotion":
        status = client.get(f"{CHAIN}/promotion/jobs/{job_id}").json()
        missing = {"store-001": ["NONE"], "store-002": ["NONE"]}
        assert (status["job_status"], status["result"]["missing_skus"]) == ("COMPLETED", missing)
        return
    status = client.get(f"{CHAIN}/catalog/jobs/{job_id}").json()
    assert status["job_status"] == "COMPLETED", (kind, status)
    if kind == "creation":
        assert [line["sku"] for line in status["result"]["item_level_feedback"]] == keys
        assert {line["status"] for line in status["result"]["item_level_feedback"]} == {"success"}
        assert status["result"]["duplicated_products"] == []
        return
    rows = csv.DictReader(client.get(status["download_url"]).text.splitlines())
    assert [row["sku"] for row in rows] == keys


def verify(traffic: Traffic, receiver: WebhookReceiver, names: list[str]) -> None:
    """What was acknowledged, as the process that was started again shows it."""
    with traffic.client() as client:
        quiescent(client)
        for name in names:
            checked(client, name, *traffic.jobs[name])
        seen = client.get(f"{STEER}/vendors/store-001/products").json()["products"]
        prices = {product["sku"]: product["price"] for product in seen}
        assert [sku for sku in SKUS if prices[sku] not in traffic.prices[sku]] == []
        created = client.get(f"{STEER}/vendors/store-003/products").json()["products"]
        assert {sku for kind, skus in traffic.jobs.values() if kind == "creation" for sku in skus} <= {
            product["sku"] for product in created
        }
        whole = client.get(f"{STEER}/vendors/store-004/products").json()["products"]
        (price,) = {product["price"] for product in whole}
        assert price in traffic.assortments
        for number, states in list(traffic.orders.items())[-20:]:
            order = client.get(f"{CHAIN}/orders/{number}")
            assert (order.status_code, order.json()["status"].upper() in states) == (200, True), (order.text, states)
        for token in traffic.tokens[-20:]:
            headers = {"Authorization": f"Bearer {token}"}
            assert client.get(f"{CHAIN}/vendors/store-001/status", headers=headers).status_code == 200


def verify_at_the_end(traffic: Traffic, receiver: WebhookReceiver, file: Path) -> None:
    """Events came at least once; each job and each state of an order was noted for delivery once; the file is whole."""
    came = {str(call.body.get("job_id") or (call.body["order_id"], call.body["status"])) for call in receiver.received}
    due = {name for name, (kind, _) in traffic.jobs.items() if kind in {"update", "export"}}
    due |= {str((number, "RECEIVED")) for number in traffic.orders}
    due |= {str((number, states[0])) for number, states in traffic.orders.items() if len(states) == 1}
    assert due - came == set()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        noted = connection.execute("SELECT subject, event FROM delivery").fetchall()
        assert [pair for pair, times in Counter(noted).items() if times > 1] == []
        states = dict(connection.execute("SELECT state, count(*) FROM job GROUP BY state"))
    assert set(states) == {"COMPLETED"}, states


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_law_what_was_acknowledged_survives_a_kill_at_any_instant(folder, capsys):
    chance = random.Random(SEED)
    victim = Victim(folder)
    traffic = Traffic(victim.base_url)
    new: set[str] = set()
    with WebhookReceiver() as receiver:
        victim.start()
        with traffic.client() as client:
            traffic.sign_in(client)
        prepared(traffic, receiver)
        for kill in range(KILLS):
            with ThreadPoolExecutor(len(traffic.actions)) as threads:
                before = set(traffic.jobs)
                acting = [threads.submit(traffic.until_it_dies, act) for act in traffic.actions]
                time.sleep(chance.uniform(0.02, 1.2))
                victim.end()
            assert [done.exception() for done in acting] == [None] * len(acting)
            new = set(traffic.jobs) - before
            if kill % 4 == 3:  # and once more while it starts
                victim.spawn()
                time.sleep(chance.uniform(0.5, 3))
                victim.end()
            victim.start()
            verify(traffic, receiver, sorted(new))
        verify(traffic, receiver, sorted(traffic.jobs))
        victim.end(signal.SIGTERM)
        verify_at_the_end(traffic, receiver, folder / FILE_NAME)
    kinds = Counter(kind for kind, _ in traffic.jobs.values())
    with capsys.disabled():
        totals = f"{len(traffic.orders)} orders, {len(traffic.tokens)} tokens, {len(receiver.received)} events"
        print(f"\n{KILLS + KILLS // 4} kills: {traffic.acknowledged} rounds, jobs {dict(kinds)}, {totals}")


class Died(BaseException):
    """The process is gone."""


class DyingStorage:
    """A storage whose process dies before a transaction: the first that `left` leaves no room for."""

    def __init__(self, storage: Storage, left: int) -> None:
        self._storage = storage
        self._left = left
        self._within = 0

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        if not self._within and not self._left:
            raise Died
        self._left -= not self._within
        self._within += 1
        try:
            with self._storage.begin() as connection:
                yield connection
        finally:
            self._within -= 1


@pytest.mark.parametrize("left", [1, 20, 45])
def test_a_death_while_it_makes_its_tables_leaves_none_or_all(tmp_path, left):
    whole = opened(tmp_path / "whole")
    folder = tmp_path / "dying"
    statements = itertools.count()

    def dies(*_: object) -> None:
        if next(statements) > left:
            raise Died

    storage = Storage(folder)
    event.listen(Engine, "after_cursor_execute", dies)
    try:
        with pytest.raises(Died):
            storage.open()
    finally:
        event.remove(Engine, "after_cursor_execute", dies)
        storage.close()
    gc.collect()  # a dead process has no cursor open; the traceback's one would keep the file locked
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchall() == [(0,)]
    assert opened(folder) == whole


def opened(folder: Path) -> set[str]:
    """The tables and indexes of a folder after a start."""
    create_app(SandboxSettings(data=folder)).state.sandbox.close()
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


PROMOTION = {
    "vendors": ["store-001", "store-002"],
    "type": "STRIKETHROUGH",
    "active": True,
    "reason": "COMPETITIVENESS",
    "display_name": {"en_GB": "Offer"},
    "conditions": {"start_time": "2024-01-01T00:00:00.000Z", "end_time": "2099-01-01T00:00:00.000Z"},
    "discount": [{"active": True, "discount_subtype": "FINAL_PRICE", "discount_value": 1, "sku": ["P1", "NONE"]}],
}
REQUESTS: dict[str, tuple[str, str, Any]] = {
    "update": ("PUT", f"{CHAIN}/vendors/store-001/catalog", {"products": [{"sku": "P1", "price": 3}, {"sku": "NONE"}]}),
    "export": ("POST", f"{CHAIN}/vendors/store-001/catalog/export", None),
    "creation": (
        *("POST", f"{CHAIN}/catalog"),
        {"vendors": ["store-001"], "products": [{"sku": "NEW", "title": {"en_GB": "New"}}]},
    ),
    "promotion": ("PUT", f"{CHAIN}/promotion", PROMOTION),
}


async def ended_after_a_death(folder: Path, kind: str, left: int) -> tuple[bool, Any]:
    """Whether the process died in the job, and how the job ended in the next one."""
    settings = SandboxSettings(data=folder, clock="virtual", behaviour={"promotion_propagation_s": 0})
    async with platform(settings) as (sandbox, client):
        products = {"products": [{"sku": "P1", "price": 2}, {"sku": "P2", "price": 2}]}
        hook = {"catalog_url": "http://127.0.0.1:9/", "secret": "s"}
        await client.put(STEER, json={"creation_enabled": True, "tokens": ["t"]})
        await client.put(f"{STEER}/webhook", json=hook)
        await client.put(f"{STEER}/vendors/store-001/products", json=products)
        method, path, body = REQUESTS[kind]
        job_id = (await client.request(method, path, json=body)).json()["job_id"]
        died = not finished(sandbox, left)
    async with platform(settings) as (sandbox, client):
        await sandbox.work.advance(60)
        jobs_path = "promotion/jobs" if kind == "promotion" else "catalog/jobs"
        status = (await client.get(f"{CHAIN}/{jobs_path}/{job_id}")).json()
        lines = (await client.get(status["download_url"])).text if "download_url" in status else ""
        held = (await client.get(f"{STEER}/vendors/store-001/products")).json()["products"]
        seen = [(product["sku"], product["price"], product["app"].get("promotion")) for product in held]
        events = (await client.get("/_sandbox/state")).json()["deliveries"]
    return died, (status["job_status"], status.get("result"), lines, seen, sum(events.values()))


@asynccontextmanager
async def platform(settings: SandboxSettings) -> AsyncIterator[tuple[Sandbox, httpx.AsyncClient]]:
    app = create_app(settings)
    sandbox, storage = app.state.sandbox, app.state.sandbox.storage
    headers = {"Authorization": "Bearer t"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", headers=headers
    ) as client:
        yield sandbox, client
    storage.close()


def finished(sandbox: Sandbox, left: int) -> bool:
    """Does the only job, in a process that has so many transactions to live; whether that was enough."""
    with sandbox.storage.begin() as connection:
        (job,) = jobs.due(connection, sandbox.clock.now_us() + 10**9)
    sandbox.storage = DyingStorage(sandbox.storage, left)  # type: ignore[assignment]
    try:
        job_runner.finish(sandbox, job)
    except Died:
        return False
    return True


@pytest.mark.parametrize("kind", REQUESTS)
def test_law_a_job_ends_the_same_wherever_its_process_died(tmp_path, kind):
    _, whole = asyncio.run(ended_after_a_death(tmp_path / "whole", kind, 1_000))
    assert whole[0] == "COMPLETED"
    for left in range(1_000):
        died, ended = asyncio.run(ended_after_a_death(tmp_path / str(left), kind, left))
        assert ended == whole, left
        if not died:
            break
    assert left > 1


def test_law_identifiers_from_a_seed_do_not_repeat_after_a_restart(tmp_path):
    made: list[str] = []
    for _ in range(3):
        sandbox = create_app(SandboxSettings(data=tmp_path, seed=7)).state.sandbox
        made += [sandbox.ids.uuid() for _ in range(5)]
        sandbox.close()
    assert len(set(made)) == len(made)
    fresh = create_app(SandboxSettings(seed=7)).state.sandbox
    assert made[:5] == [fresh.ids.uuid() for _ in range(5)]
    fresh.close()
