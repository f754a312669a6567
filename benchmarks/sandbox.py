"""10,000 requests a minute at the sandbox with its limit lifted, for an hour of its virtual clock: what it holds stays bounded.

    PYTHONPATH=include .venv/bin/python -m benchmarks.sandbox --minutes 60 --rate 10000 --seconds 3600

In one process without sockets, so that the sandbox alone is measured. A minute is a mix of what clients send: a token, updates with their status and log,
pages of the listing, orders fulfilled and read with their events, rejected bodies. Rows are compared with their bounds, memory and objects with the
middle of the run. --seconds bounds the wall time; a shorter run says how far it came. Exit 1: something grew.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
from sqlalchemy import func, select

from benchmarks.stage import memory_bytes
from partner_sandbox.jobs import JOBS_MAX
from partner_sandbox.journal import EXCHANGES_MAX, LINES_MAX, TRIM_LINES
from partner_sandbox.server import create_app
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.storage import metadata
from partner_sandbox.webhooks import DELIVERIES_MAX

if TYPE_CHECKING:
    from fastapi import FastAPI

    from partner_sandbox.sandbox import Sandbox

CHAIN = "/v2/chains/demo-chain"
STORE = f"{CHAIN}/vendors/store-001"
STEER = "/_sandbox/chains/demo-chain"
PRODUCTS = 2_000
GROWTH_MAX = 1.10
"""Rows and memory at the end over those in the middle."""
KEPT = ("customer_order",)
"""What a platform keeps for 60 days grows with its orders."""
BOUNDS = {
    "journal": LINES_MAX + TRIM_LINES,
    "exchange": EXCHANGES_MAX + TRIM_LINES,
    "job": JOBS_MAX + 1_000,
    "job_item": 10 * (JOBS_MAX + 1_000),
    "delivery": DELIVERIES_MAX + 1_000,
    "attempt": DELIVERIES_MAX + 1_000,
    "visible_change": PRODUCTS * 40,
}
"""Rows of what is kept by number, or for the fifteen minutes until customers see it."""
FORM = "grant_type=client_credentials&client_id=demo-client&client_secret=demo-secret"
ORDER = {"items": [{"sku": "FIXED", "quantity": 1}]}
LIFTED = {"requests_per_minute": 1_000_000, "token_requests_per_minute": 1_000_000, "job_seconds": 0.5}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Soak:
    """One client and the sandbox that it calls, without sockets and without a client library: these would cost more than the sandbox."""

    app: FastAPI
    sandbox: Sandbox
    token: str = ""
    statuses: dict[int, int] = field(default_factory=dict)
    sent: int = 0

    async def call(self, method: str, target: str, body: Any = None) -> Answer:
        """One request of the interface; a text is a form."""
        answer = await self.ask(method, target, body)
        self.sent += 1
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        return answer

    async def ask(self, method: str, target: str, body: Any = None) -> Answer:
        """Any request."""
        path, _, query = target.removeprefix("http://sandbox").partition("?")
        content = body.encode() if isinstance(body, str) else b"" if body is None else json.dumps(body).encode()
        kind = b"application/x-www-form-urlencoded" if isinstance(body, str) else b"application/json"
        headers = [(b"host", b"sandbox"), (b"content-type", kind), (b"authorization", f"Bearer {self.token}".encode())]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "root_path": "",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("sandbox", 80),
        }
        got = bytearray()
        status = 0

        sent = False

        async def receive() -> dict[str, Any]:
            nonlocal sent
            if sent:
                await asyncio.Event().wait()  # the caller stays
            sent = True
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            got.extend(message.get("body", b""))

        await self.app(scope, receive, send)
        return Answer(status, bytes(got))

    async def minute(self, rate: int) -> None:
        """So many requests, spread over a minute of the clock."""
        until = self.sent + rate
        self.token = (await self.call("POST", "/v2/oauth/token", FORM)).json()["access_token"]
        number = 0
        while self.sent < until:
            await self.sixty(number)
            await self.sandbox.work.advance(60 * 60 / rate - 0.5)
            number += 1

    async def sixty(self, number: int) -> None:
        """Sixty requests: an update with its status and log, pages, rejected bodies, an order, and what clients poll."""
        items = [{"sku": f"S{(number * 10 + n) % PRODUCTS}", "price": number % 90 + 1} for n in range(9)]
        put = await self.call("PUT", f"{STORE}/catalog", {"products": [*items, {"sku": "none"}]})
        job = f"{CHAIN}/catalog/jobs/{put.json()['job_id']}"
        for _ in range(10):
            await self.call("GET", job)
        await self.sandbox.work.advance(0.5)
        link = (await self.call("GET", job)).json()["download_url"]
        for page in range(1, 3):
            await self.call("GET", f"{STORE}/catalog?page_size=20&page={page + number % 90}")
        for _ in range(3):
            await self.call("GET", link)
            await self.call("PUT", f"{STORE}/catalog", {"products": [{"sku": "S1", "quantity": 1.5}]})
        order = (await self.ask("POST", f"{STEER}/vendors/store-001/orders", ORDER)).json()
        item = {"_id": order["items"][0]["_id"], "sku": "FIXED", "status": "IN_CART"}
        fulfilment = {"order_id": order["order_id"], "status": "READY_FOR_PICKUP", "items": [item]}
        await self.call("PUT", f"{CHAIN}/orders/{order['order_id']}", fulfilment)
        for _ in range(13):
            await self.call("GET", f"{STORE}/status")
            await self.call("GET", f"{CHAIN}/orders/{order['order_id']}")
            await self.call("GET", f"{CHAIN}/orders/nope")

    def held(self) -> dict[str, int]:
        """Rows of each table, and the memory of the process in KiB."""
        gc.collect()
        with self.sandbox.storage.begin() as connection:
            rows = {
                table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
                for table in metadata.sorted_tables
            }
        return {"memory_kib": memory_bytes("VmRSS") // 1024, "objects": len(gc.get_objects()), **rows}


def _grew(name: str, middle: int, end: int) -> bool:
    """Over its bound, or, for what has none, more than it was in the middle."""
    if name in BOUNDS:
        return end > BOUNDS[name]
    return name not in KEPT and end > max(middle * GROWTH_MAX, middle + 100)


async def _partner(_scope: Any, receive: Any, send: Any) -> None:
    """The partner's webhook: 204 to everything."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def run(minutes: int, rate: int, wall_s: float) -> dict[str, Any]:
    """The figures of a run, and what grew."""
    settings = SandboxSettings(clock="virtual", behaviour=LIFTED)
    app = create_app(settings, webhook_transport=httpx.ASGITransport(_partner))
    soak = Soak(app, app.state.sandbox)
    hook = {"catalog_url": "http://partner/jobs", "order_url": "http://partner/orders", "secret": "text"}
    await soak.ask("PUT", f"{STEER}/webhook", hook)
    products = [{"sku": f"S{n}", "price": 1, "title": f"Product {n}"} for n in range(PRODUCTS)]
    body = {"products": [*products, {"sku": "FIXED", "price": 2}]}
    assert (await soak.ask("PUT", f"{STEER}/vendors/store-001/products", body)).status == 200
    began_s, cpu_s = time.monotonic(), time.process_time()
    held: list[dict[str, int]] = []
    for minute in range(minutes):
        await soak.minute(rate)
        held.append(soak.held())
        sys.stderr.write(f"minute {minute + 1}: {soak.sent:,} requests, {held[-1]['memory_kib'] / 1024:.0f} MiB\n")
        if time.monotonic() - began_s > wall_s:
            break
    app.state.sandbox.close()
    middle, end = held[len(held) // 2], held[-1]
    grew = {name: [middle[name], end[name]] for name in end if _grew(name, middle[name], end[name])}
    return {
        "virtual_minutes": len(held),
        "requests": soak.sent,
        "statuses": dict(sorted(soak.statuses.items())),
        "wall_s": round(time.monotonic() - began_s),
        "cpu_ms_a_request": round((time.process_time() - cpu_s) * 1000 / soak.sent, 2),
        "middle": middle,
        "end": end,
        "grew": grew,
    }


def main() -> int:
    arguments = argparse.ArgumentParser(prog="benchmarks.sandbox", description=__doc__)
    arguments.add_argument("--minutes", type=int, default=60)
    arguments.add_argument("--rate", type=int, default=10_000)
    arguments.add_argument("--seconds", type=float, default=3600, help="of wall time, at most")
    given = arguments.parse_args()
    found = asyncio.run(run(given.minutes, given.rate, given.seconds))
    print(json.dumps(found, indent=2))
    return 1 if found["grew"] else 0


if __name__ == "__main__":
    sys.exit(main())
