"""Orders a second from the inbox into ledger and warehouse, with encrypted customer data.

    .venv/bin/python benchmarks/take.py [--orders 5000] [--items 5]

PostgreSQL (fsync on) shares this machine. Every order has two events, RECEIVED and READY_FOR_PICKUP, all of them waiting when `take`
begins. The bound beside it: the same events one a transaction, as a batch that fails is applied at worst.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

PROJECT = Path(__file__).parents[1]
sys.path[:0] = [str(PROJECT / "include")]

from shelfsync.app import open_app  # noqa: E402
from shelfsync.inbox.event_body import read  # noqa: E402
from shelfsync.inbox.tables import event  # noqa: E402
from shelfsync.local.postgres import running_postgres  # noqa: E402
from shelfsync.migrations import upgrade  # noqa: E402
from shelfsync.orders.steps import take as module  # noqa: E402
from shelfsync.settings import Settings  # noqa: E402
from shelfsync.store import bulk  # noqa: E402
from shelfsync.store.engine import create_engine  # noqa: E402

if TYPE_CHECKING:
    from sqlalchemy import Engine

ROUNDS = 3
_INBOX_ROWS = 1000


def _body(order_id: str, minute: int, status: str, items: int) -> bytes:
    pricing = {
        "pricing_type": "UNIT",
        "quantity": 2,
        "unit_price": 1.5,
        "total_price": 3.0,
        "min_quantity": 1,
        "max_quantity": 4,
    }
    body: dict[str, Any] = {
        "order_id": order_id,
        "external_order_id": f"store-{order_id[:8]}",
        "order_code": order_id[:4],
        "status": status,
        "transport_type": "LOGISTICS_DELIVERY",
        "order_type": "DELIVERY",
        "promised_for": "2026-03-01T10:45:00Z",
        "client": {"id": "store-001", "store_id": "store-001"},
        "customer": {"first_name": "Robin", "last_name": "Example", "phone_number": "+10000000000"},
        "delivery_address": {"street": "Long Street 1", "city": "Town", "postal_code": "10000"},
        "items": [
            {
                "_id": f"{order_id}-{number}",
                "sku": f"SKU-{number:05}",
                "name": f"Product {number}",
                "status": "NOT_PROCESSED",
                "pricing": pricing,
            }
            for number in range(items)
        ],
        "payment": {"type": "PAID", "sub_total": 3.0 * items, "order_total": 3.0 * items + 2},
        "sys": {"created_at": "2026-03-01T10:00:00Z", "updated_at": f"2026-03-01T10:{minute:02}:00Z"},
    }
    return json.dumps(body).encode()


def _fill(engine: Engine, orders: int, items: int) -> None:
    names = [str(uuid.uuid4()) for _ in range(orders)]
    events = [
        read(_body(name, minute, status, items))
        for minute, status in ((0, "RECEIVED"), (20, "READY_FOR_PICKUP"))
        for name in names
    ]
    for first in range(0, len(events), _INBOX_ROWS):
        rows = [
            {"kind": one.kind, "identity": one.identity, "vendor": one.vendor, "body": one.body}
            for one in events[first : first + _INBOX_ROWS]
        ]
        with engine.begin() as connection:
            connection.execute(bulk.insertion(event, rows))


def _rate(context: Any, orders: int, items: int, at_once: int) -> tuple[float, float]:
    """(orders a second, CPU seconds of this process an order)."""
    _fill(context.engine, orders, items)
    module.AT_ONCE = at_once
    began_s, cpu_s = time.perf_counter(), time.process_time()
    counts = module.take(context)
    took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
    assert counts == {"events": 2 * orders, "orders": orders, "quarantined": 0}, counts
    return counts["events"] / took_s, cpu_s / counts["events"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--orders", type=int, default=5000)
    arguments.add_argument("--items", type=int, default=5)
    chosen = arguments.parse_args()
    at_once = module.AT_ONCE
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with running_postgres(Path(folder)) as dsn:
            engine = create_engine(dsn)
            upgrade(engine)
            engine.dispose()
            platform = {"base_url": "http://127.0.0.1:9", "chain": "c", "client_id": "i", "client_secret": "s"}
            settings = Settings(
                home=Path(folder) / "home",
                database_url=dsn,
                lake_url=f"{folder}/lake",
                platform=platform,
                orders={"encryption_key": "a key of the benchmark"},
            )
            with open_app(settings) as context:
                figures = [_rate(context, chosen.orders, chosen.items, at_once) for _ in range(ROUNDS)]
                singly, _ = _rate(context, min(chosen.orders, 250), chosen.items, 1)
    rates = [rate for rate, _ in figures]
    bulk_per_s = statistics.median(rates)
    result = {
        "orders": chosen.orders,
        "items_each": chosen.items,
        "events_per_s_median": round(bulk_per_s),
        "events_per_s": [round(rate) for rate in rates],
        "cpu_ms_an_event": round(1000 * statistics.median(cpu for _, cpu in figures), 3),
        "one_a_transaction_per_s": round(singly),
        "ratio": round(bulk_per_s / singly, 1),
        "cpus": os.cpu_count(),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
