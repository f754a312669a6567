"""Many waits in one triggerer: memory, CPU and looks at the tables while nothing ends, and how soon all of them end.

    PYTHONPATH=include:plugins .venv/bin/python -m benchmarks.waits --waits 1000 --seconds 60

Each wait is the product's own trigger for a shard of one vendor with one open job, on one event loop as in Airflow's triggerer; its
database is real. No job is due for a poll, so the platform is not asked. Memory is of this process, without and with the waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from benchmarks import server
from benchmarks.stage import described, forget_settings, memory_bytes
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Engine

    from shelfsync_airflow.wait import JobsTrigger

DEADLINE_S = 3600.0


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waits", description=__doc__)
    parser.add_argument("--waits", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long nothing ends")
    options = parser.parse_args()
    forget_settings()
    print(json.dumps(measured(options.waits, options.seconds) | described(), indent=2))


def measured(waits: int, seconds: float) -> dict[str, Any]:
    """`memory_kib` and `looks` are of one wait, `cpu_s` of all in `seconds`; `end_s`: from the deadline of all jobs to the end of the last wait."""
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory(prefix="shelfsync-waits-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        try:
            with server.database(folder) as engine:
                triggers = _triggers(engine, waits)
                os.environ |= {
                    "SHELFSYNC_DATABASE_URL": engine.url.render_as_string(hide_password=False),
                    "SHELFSYNC_HOME": str(folder),
                    "AIRFLOW_HOME": str(folder),
                    "SHELFSYNC_PLATFORM__BASE_URL": "http://127.0.0.1:9",
                    "SHELFSYNC_PLATFORM__CHAIN": CHAIN,
                    "SHELFSYNC_PLATFORM__CLIENT_ID": CLIENT_ID,
                    "SHELFSYNC_PLATFORM__CLIENT_SECRET": CLIENT_SECRET,
                }
                return asyncio.run(_measure(engine, triggers, seconds, server.cpu_of_server(folder)))
        finally:
            server.stop(folder)


def _triggers(engine: Engine, waits: int) -> list[JobsTrigger]:
    """One a vendor; each has a job that the platform has accepted."""
    from shelfsync_airflow.wait import JobsTrigger

    vendors = [f"store-{number:05}" for number in range(waits)]
    server.open_jobs(engine, vendors, sent=1)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.job SET state = 'open', platform_job_id = 'job-' || job_id,"
            f" next_poll_at = now() + interval '1 day', deadline_at = now() + interval '{DEADLINE_S:g} s'"
        )
        run_id = connection.exec_driver_sql("SELECT max(run_id) FROM ledger.run").scalar_one()
    return [JobsTrigger(json.dumps({"run": run_id, "vendors": [vendor]})) for vendor in vendors]


async def _measure(engine: Engine, triggers: Sequence[JobsTrigger], seconds: float, server_cpu: Any) -> dict[str, Any]:
    from shelfsync_airflow.app import PLATFORM, shared_app

    context = await asyncio.to_thread(shared_app, PLATFORM, chain=None)
    counts: Counter[str] = Counter()
    sa.event.listen(context.engine, "before_cursor_execute", lambda *_: counts.update(statements=1))
    idle_bytes = memory_bytes("VmRSS")
    ends = [asyncio.ensure_future(anext(trigger.run())) for trigger in triggers]
    await asyncio.sleep(min(seconds, 15.0))  # every wait has looked once
    assert not any(end.done() for end in ends)
    counts.clear()
    cpu_s, database_s, since_s = time.process_time(), server_cpu(), time.monotonic()
    await asyncio.sleep(seconds)
    waited_s = time.monotonic() - since_s
    found = {
        "waits": len(triggers),
        "seconds": round(waited_s, 1),
        "memory_mib_before": idle_bytes >> 20,
        "memory_mib": memory_bytes("VmRSS") >> 20,
        "memory_kib": round((memory_bytes("VmRSS") - idle_bytes) / len(triggers) / 1024, 1),
        "threads": threading.active_count(),
        "connections": context.engine.pool.status(),
        "cpu_s": round(time.process_time() - cpu_s, 2),
        "database_cpu_s": round(server_cpu() - database_s, 2),
        "looks": round(counts["statements"] / len(triggers) / waited_s, 3),
    }
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET deadline_at = now()")
    since_s = time.monotonic()
    await asyncio.gather(*ends)
    return found | {"end_s": round(time.monotonic() - since_s, 1)}


if __name__ == "__main__":
    main()
