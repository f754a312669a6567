"""Events at a steady rate on the receiver as production runs it, while it and PostgreSQL are killed with -9 in turns.

    make load SECONDS=30 RATE=500

The caller does what a platform does: an event that is not answered 2xx is sent again. Afterwards every event that was answered 2xx has to
be in the table, once. Then the step `take` applies order events in bulk, from an inbox full of them. Caller, receiver and PostgreSQL (fsync on)
share this machine. Exit 1: an event is missing, or there twice, or an order is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import signal
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from cryptography.fernet import Fernet

from benchmarks.stage import described
from crash.victims import kill
from orders_bodies import body, item
from receiver_fixture import LiveReceiver, request
from shelfsync.app import open_app
from shelfsync.inbox.event_body import read
from shelfsync.local.ports import next_free_port
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.migrations.upgrade import upgrade
from shelfsync.orders.order_state import as_json
from shelfsync.orders.steps.take_events import take
from shelfsync.settings import Settings
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

CONNECTIONS = 64
KILLS = 6
FIRST_PORT = 28_480
AWAY_S = 1.0
"""So long a killed PostgreSQL stays away; the receiver is started again at once."""
TRY_TIMEOUT_S = 10.0
"""As long as the platform waits for an answer."""
GIVE_UP_S = 60.0
PAUSE_S = 0.2


@dataclass
class Deliveries:
    """What the caller saw."""

    answered: dict[int, float] = field(default_factory=dict)
    """Event -> seconds from its time to be sent to its 2xx."""
    tries: int = 0
    given_up: int = 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=500.0, help="events a second")
    parser.add_argument("--kills", type=int, default=KILLS, help="of receiver and PostgreSQL in turns")
    parser.add_argument("--orders", type=int, default=10_000, help="order events that `take` applies")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="shelfsync-load-") as folder:
        Path(folder).chmod(0o711)
        figures = run(Path(folder), chosen.seconds, chosen.rate, chosen.kills, chosen.orders)
    print(json.dumps(figures, indent=1))
    print(f"{figures['acknowledged']} acknowledged, {figures['missing']} missing, {figures['twice']} twice")
    print(f"{figures['orders_applied']} orders applied, {figures['orders_a_second']:,} a second")
    faulty = figures["missing"] or figures["twice"] or figures["given_up"]
    return 1 if faulty or figures["orders_applied"] != chosen.orders else 0


def run(home: Path, seconds: float, rate: float, kills: int, orders: int) -> dict[str, Any]:
    """The figures of one run."""
    server = EmbeddedPostgres(home / "server")
    server.ensure_started()
    try:
        url = server.create_database("load")
        engine = create_engine(url)
        upgrade(engine)
        engine.dispose()
        deliveries, stop = Deliveries(), threading.Event()
        port = next_free_port(FIRST_PORT)
        with LiveReceiver(url, SHELFSYNC_WEBHOOK__PORT=str(port)) as first:
            victims = _Victims(home, server, url, port, first)
            killer = threading.Thread(target=victims.kill_all, args=(kills, seconds, stop))
            killer.start()
            try:
                asyncio.run(_send_all(port, int(seconds * rate), rate, deliveries))
            finally:
                stop.set()
                killer.join()
                victims.close()
        server.ensure_started()
        with psycopg.connect(url) as connection:
            bodies = [bytes(row[0]) for row in connection.execute("SELECT body FROM inbox.event")]
        applied, took_s = _take(home, server.create_database("orders"), orders)
    finally:
        server.stop()
    stored = [int(json.loads(body)["job_id"]) for body in bodies]
    waited = sorted(deliveries.answered.values())
    return {
        "machine": described(),
        "seconds": seconds,
        "rate": rate,
        "events": int(seconds * rate),
        "acknowledged": len(deliveries.answered),
        "missing": len(deliveries.answered.keys() - set(stored)),
        "twice": len(stored) - len(set(stored)),
        "given_up": deliveries.given_up,
        "sent_again": deliveries.tries - len(deliveries.answered),
        "killed": victims.killed,
        "median_ms": _ms(waited, 0.5),
        "p99_ms": _ms(waited, 0.99),
        "longest_ms": _ms(waited, 1.0),
        "orders_applied": applied,
        "orders_a_second": round(orders / took_s),
    }


def _take(home: Path, url: str, orders: int) -> tuple[int, float]:
    """(orders in the warehouse, seconds) of one `take` over so many new orders of three items, each with an encrypted customer."""
    settings = Settings(
        home=home / "orders", database_url=url, orders={"encryption_key": Fernet.generate_key().decode()}
    )
    items = [item(sku, number) for number, sku in enumerate(("MILK", "CHEESE", "JAM"), 1)]
    customer = {"customer": {"first_name": "A", "last_name": "Customer", "phone": "+10000000000"}}
    with open_app(settings) as context, psycopg.connect(url) as connection:
        rows = "COPY inbox.event (kind, identity, platform_job_id, vendor, body) FROM STDIN"
        with connection.cursor().copy(rows) as copy:
            for _ in range(orders):
                event = read(as_json(body(*items, order_id=str(uuid.uuid4()), **customer)).encode())
                copy.write_row((event.kind, event.identity, event.platform_job_id, event.vendor, event.body))
        connection.commit()
        began_s = time.perf_counter()
        take(context)
        took_s = time.perf_counter() - began_s
        row = connection.execute("SELECT count(*) FROM warehouse.order_item").fetchone()
    assert row is not None
    return int(row[0]) // len(items), took_s


class _Victims:
    """Receiver and server: killed, and started again."""

    def __init__(self, home: Path, server: EmbeddedPostgres, url: str, port: int, receiver: LiveReceiver) -> None:
        self._home = home
        self._server = server
        self._url = url
        self._port = port
        self._receiver = receiver
        self._started: list[LiveReceiver] = []
        self.killed = {"receiver": 0, "postgres": 0}

    def kill_all(self, kills: int, seconds: float, stop: threading.Event) -> None:
        """Evenly over the run, the first not before its first part is over."""
        began_s = time.monotonic()
        for number in range(kills):
            if stop.wait(max(0.0, began_s + seconds * (number + 1) / (kills + 1) - time.monotonic())):
                return
            (self._kill_receiver, self._kill_postgres)[number % 2]()

    def close(self) -> None:
        """Ends the receivers that were started here."""
        for receiver in self._started:
            receiver.__exit__(None, None, None)

    def _kill_receiver(self) -> None:
        self._receiver.process.send_signal(signal.SIGKILL)
        self._receiver.process.wait()
        self.killed["receiver"] += 1
        self._receiver = LiveReceiver(self._url, SHELFSYNC_WEBHOOK__PORT=str(self._port)).__enter__()
        self._started.append(self._receiver)

    def _kill_postgres(self) -> None:
        assert kill(self._home, "postgres", random.Random()), "no server was there to be killed"
        self.killed["postgres"] += 1
        time.sleep(AWAY_S)
        self._server.ensure_started()


async def _send_all(port: int, events: int, rate: float, deliveries: Deliveries) -> None:
    """Each event has its time; a caller that is late sends at once."""
    queue: asyncio.Queue[tuple[int, float]] = asyncio.Queue()
    callers = [asyncio.create_task(_call(port, queue, deliveries)) for _ in range(CONNECTIONS)]
    began_s = time.monotonic()
    for number in range(events):
        due_s = began_s + number / rate
        if (left := due_s - time.monotonic()) > 0:
            await asyncio.sleep(left)
        queue.put_nowait((number, due_s))
    await queue.join()
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)


async def _call(port: int, queue: asyncio.Queue[tuple[int, float]], deliveries: Deliveries) -> None:
    """One connection, made again whenever it breaks."""
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    while True:
        number, due_s = await queue.get()
        body = b'{"job_id": "%d", "status": "COMPLETED", "platform_vendor_id": "store-%03d"}' % (number, number % 1000)
        while True:
            deliveries.tries += 1
            try:
                async with asyncio.timeout(TRY_TIMEOUT_S):
                    if streams is None:
                        streams = await asyncio.open_connection("127.0.0.1", port)
                    answered, keeps = await _try(*streams, request(body))
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                answered, keeps = False, False
            if not keeps and streams is not None:
                streams[1].close()
                streams = None
            if answered:
                deliveries.answered[number] = time.monotonic() - due_s
                break
            if time.monotonic() - due_s > GIVE_UP_S:
                deliveries.given_up += 1
                break
            await asyncio.sleep(PAUSE_S)
        queue.task_done()


async def _try(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, call: bytes) -> tuple[bool, bool]:
    """(answered 2xx, the connection may be used again)."""
    writer.write(call)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = re.search(rb"content-length: (\d+)", head)
    await reader.readexactly(int(length[1]) if length else 0)
    return head.startswith(b"http/1.1 2"), b"connection: close" not in head


def _ms(waited: list[float], share: float) -> float | None:
    return round(waited[min(len(waited) - 1, int(len(waited) * share))] * 1000, 1) if waited else None


if __name__ == "__main__":
    sys.exit(main())
