"""Events a second through the receiver as production runs it: HTTP, secret, parsing, commit on disk, answer.

    .venv/bin/python benchmarks/inbox.py [--events 20000] [--connections 32]

Caller, receiver and PostgreSQL (fsync on) share this machine. Every event is another one; afterwards each that was answered
2xx must be in the table. The bound beside it: the same rows by one INSERT and one commit each, over one connection.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psycopg

PROJECT = Path(__file__).parents[1]
sys.path[:0] = [str(PROJECT / "include"), str(PROJECT / "tests")]

from receiver_fixture import LiveReceiver, flood  # noqa: E402
from shelfsync.local.postgres import running_postgres  # noqa: E402
from shelfsync.migrations.upgrade import upgrade  # noqa: E402
from shelfsync.store.engine import create_engine  # noqa: E402

ROUNDS = 3


def _bodies(round_: int, count: int) -> list[bytes]:
    return [
        json.dumps(
            {
                "job_id": f"{round_}-{n}",
                "status": "COMPLETED",
                "platform_vendor_id": f"store-{n % 1000:03d}",
                "download_url": f"https://platform.example/v2/logs/{round_}-{n}.csv",
            }
        ).encode()
        for n in range(count)
    ]


def _receive(dsn: str, round_: int, count: int, connections: int) -> float:
    bodies = _bodies(round_, count)
    with LiveReceiver(dsn) as receiver:
        began_s = time.perf_counter()
        accepted = asyncio.run(flood(receiver.port, bodies, connections=connections))
        took_s = time.perf_counter() - began_s
    with psycopg.connect(dsn) as connection:
        stored = {row[0] for row in connection.execute("SELECT body FROM inbox.event")}
    lost = len(set(accepted) - stored)
    assert len(accepted) == count, f"{count - len(accepted)} events were not accepted"
    assert not lost, f"{lost} events were accepted and lost"
    return count / took_s


def _commit_each(dsn: str, count: int) -> float:
    with psycopg.connect(dsn, autocommit=True) as connection:
        began_s = time.perf_counter()
        for n, body in enumerate(_bodies(-1, count)):
            connection.execute(
                "INSERT INTO inbox.event (kind, identity, body) VALUES ('unknown', %s, %s)",
                (f"bound:{n}:{began_s}", body),
            )
        return count / (time.perf_counter() - began_s)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--events", type=int, default=20_000)
    arguments.add_argument("--connections", type=int, default=32)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with running_postgres(Path(folder)) as dsn:
            engine = create_engine(dsn)
            upgrade(engine)
            engine.dispose()
            rates = [_receive(dsn, n, chosen.events, chosen.connections) for n in range(ROUNDS)]
            bound = _commit_each(dsn, min(chosen.events, 2000))
    result = {
        "events": chosen.events,
        "connections": chosen.connections,
        "events_per_s_median": round(statistics.median(rates)),
        "events_per_s": [round(rate) for rate in rates],
        "lost": 0,
        "one_commit_each_per_s": round(bound),
        "cpus": os.cpu_count(),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
