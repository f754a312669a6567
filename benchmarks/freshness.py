"""How long a stop-sell takes from the ERP's commit to the platform's acknowledgement, by `shelfsync sync --watch`.

    make bench-freshness VENDORS=6 SECONDS=300
    make bench-freshness VENDORS=6 SECONDS=300 ARGS=--airflow

Real processes: PostgreSQL, the sandbox with its request limit and webhooks, the receiver, and the command line. With --airflow, a whole
Airflow takes the place of the command line: its triggerer looks for changes, and they start `catalog_delta_sync`. The tills of the sample ERP sell
once a second; every second sale takes the last pieces. Beside the times stands the bound: a cycle that needs two requests a vendor cannot be
shorter than these at 60 requests a minute, whoever sends them. Everything shares this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from benchmarks.server import running, with_settings
from benchmarks.stage import described
from shelfsync.erp import sample
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET, SandboxControl
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALLOWANCE = 60
REQUESTS_A_VENDOR = 2
SECRET = "a secret of the benchmark"
RECEIVER_PORT = 18_480
"""Of the receiver that comes with Airflow; the sandbox reports to another one."""
BIN = Path(sys.executable).parent

_ON_SALE = """
SELECT listing.store_id, listing.product_id, store.code AS vendor, product.item_code AS sku, sum(movement.quantity) AS quantity
FROM erp.listing JOIN erp.store USING (store_id) JOIN erp.product USING (product_id)
JOIN erp.stock_movement AS movement USING (store_id, product_id)
WHERE listing.active AND product.active AND NOT product.sold_by_weight
GROUP BY 1, 2, 3, 4 HAVING sum(movement.quantity) >= 3
"""
_BOOK = """
INSERT INTO erp.stock_movement (store_id, product_id, booked_at, kind, quantity) VALUES (:store, :product, clock_timestamp(), 'sale', :quantity)
"""
_OUTCOMES = """
SELECT vendor, sku, quantity, known_at FROM warehouse.sku_outcome
WHERE state = 'accepted' AND known_at > :since AND (quantity = 0 OR active = false) ORDER BY known_at
"""
_REQUESTS = """
SELECT operation, sum(permits - forfeited)::bigint AS requests FROM rate_limit.usage WHERE priority <> '' GROUP BY 1 ORDER BY 1
"""
_RUNS = """
SELECT count(*) AS requests, extract(epoch FROM min(job.sent_at) - run.started_at)::float AS prepared_s,
    extract(epoch FROM run.finished_at - run.started_at)::float AS lasted_s
FROM ledger.run AS run JOIN warehouse.catalog_job AS job USING (run_id)
WHERE run.started_at > :at AND run.finished_at IS NOT NULL GROUP BY run.run_id, run.started_at, run.finished_at
"""


@dataclass(frozen=True)
class StopSell:
    """The last pieces of a product, sold; `at` is after the commit."""

    vendor: str
    sku: str
    at: dt.datetime


def main() -> int:
    """Runs it and prints the figures, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.freshness", description=__doc__)
    parser.add_argument("--vendors", type=int, default=6)
    parser.add_argument("--skus", type=int, default=1_000, help="products of a vendor")
    parser.add_argument("--seconds", type=int, default=300, help="how long the tills sell")
    parser.add_argument(
        "--rest-s", type=int, default=60, help="a pause first, so that the minute's requests are free again"
    )
    parser.add_argument("--drain-s", type=int, default=60, help="how long the last sales may take")
    parser.add_argument("--airflow", action="store_true", help="a delta under Airflow, started by the ERP's changes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shelfsync-freshness-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        figures = measured(folder, options)
    print(json.dumps(figures | described(), indent=2))
    return 0


def measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one run; times in seconds."""
    with contextlib.ExitStack() as closing:
        postgres = EmbeddedPostgres(folder, fsync=False, echo=lambda _: None)
        postgres.ensure_started()
        closing.callback(postgres.stop)
        ours, theirs = postgres.create_database("shelfsync"), postgres.create_database("erp")
        erp, ledger = create_engine(theirs), create_engine(ours)
        closing.callback(erp.dispose)
        closing.callback(ledger.dispose)
        sandbox_url = closing.enter_context(
            running(folder, [str(BIN / "partner-sandbox"), "--port", "0", "--job-seconds", "1"], {})
        )
        environment = {
            "SHELFSYNC_HOME": str(folder),
            "SHELFSYNC_LAKE_URL": str(folder / "lake"),
            "SHELFSYNC_DATABASE_URL": ours,
            "SHELFSYNC_PLATFORM__BASE_URL": sandbox_url,
            "SHELFSYNC_PLATFORM__CHAIN": CHAIN,
            "SHELFSYNC_PLATFORM__CLIENT_ID": CLIENT_ID,
            "SHELFSYNC_PLATFORM__CLIENT_SECRET": CLIENT_SECRET,
            "SHELFSYNC_WEBHOOK__SECRET": SECRET,
            "SHELFSYNC_WEBHOOK__PORT": "0",
            "SHELFSYNC_ERP__URL": theirs.replace("postgresql://", "postgresql+psycopg://", 1),
            "SHELFSYNC_ERP__SQL_FILE": str(sample.SELECT_FILE),
            "SHELFSYNC_ERP__CHANGES_SQL_FILE": str(sample.CHANGES_FILE),
            "SHELFSYNC_ERP__CHANGES_COLUMN": "xact",
            "SHELFSYNC_ERP__CHANGES_KIND": "number",
            "SHELFSYNC_ERP__CHANGES_OVERLAP": "0",
            "SHELFSYNC_SYNC__WATCH_S": "1",
        }
        sample.create(erp, vendors=options.vendors, skus_per_vendor=options.skus)
        with erp.begin() as connection:
            connection.exec_driver_sql(sample.CHANGE_TABLE_FILE.read_text("utf-8"))
        shelfsync = [sys.executable, "-m", "shelfsync"]
        subprocess.run(
            [*shelfsync, "status"], env=with_settings(environment), check=False, capture_output=True
        )  # the tables
        receiver_url = closing.enter_context(running(folder, [*shelfsync[:2], "shelfsync.receiver"], environment))
        sandbox = SandboxControl(sandbox_url)
        closing.callback(sandbox.close)
        listed = sample.assortment(erp)
        for vendor, products in listed.items():
            sandbox.put_products(vendor, products)
        sandbox.send_events_to(f"{receiver_url}/webhook", SECRET)
        for arguments in (["--full"], []):
            _finished([*shelfsync, "sync", *arguments], environment)
        time.sleep(options.rest_s)
        with ledger.begin() as connection:
            connection.execute(sa.text("DELETE FROM rate_limit.usage"))
        synced = _airflow if options.airflow else _watch
        with synced(folder, environment):
            began = dt.datetime.now(dt.UTC)
            sold = tills(erp, options.seconds, {(name, row["sku"]) for name, rows in listed.items() for row in rows})
            time.sleep(options.drain_s)
        with ledger.connect() as connection:
            outcomes = connection.execute(sa.text(_OUTCOMES), {"since": began}).all()
            requests = {row.operation: row.requests for row in connection.execute(sa.text(_REQUESTS))}
            runs = connection.execute(sa.text(_RUNS), {"at": began}).all()
    lasted_s = options.seconds + options.drain_s
    return figures_of(sold, outcomes, requests, runs, vendors=options.vendors, lasted_s=lasted_s)


@contextlib.contextmanager
def _watch(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """`shelfsync sync --watch`, until it is told to end; what it printed last if it ended before."""
    command = [sys.executable, "-m", "shelfsync", "-v", "sync", "--watch"]
    with (folder / "watch.log").open("w") as log:
        process = subprocess.Popen(command, env=with_settings(environment), stdout=log, stderr=log)
        try:
            yield
            if process.poll() is not None:
                sys.stderr.write((folder / "watch.log").read_text()[-3_000:])
            process.send_signal(signal.SIGTERM)
            process.wait(120)
        finally:
            process.kill()


@contextlib.contextmanager
def _airflow(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """What `make up` starts, with the delta alone, started by changes. Its home is another one: PostgreSQL runs already."""
    kinds = "full delta export holds recover promotions promotions_recover housekeeping orders history"
    options = {f"AIRFLOW__SHELFSYNC__{kind.upper()}_SCHEDULE": "none" for kind in kinds.split()}
    home = {"SHELFSYNC_HOME": str(folder / "up"), "SHELFSYNC_WEBHOOK__PORT": str(RECEIVER_PORT)}
    variables = with_settings(environment | options | home | {"AIRFLOW__SHELFSYNC__DELTA_WATCH": "changes"})
    command = [sys.executable, "-m", "shelfsync"]
    try:
        host = urlsplit(environment["SHELFSYNC_PLATFORM__BASE_URL"]).netloc
        subprocess.run([*command, "up", "--platform", host], env=variables, check=True)
        yield
    finally:
        subprocess.run([*command, "down"], env=variables, check=False)


def tills(erp: sa.Engine, seconds: int, listed: set[tuple[str, str]]) -> list[StopSell]:
    """A sale a second; every second one takes the last pieces. A product is sold out once, so that each has one acknowledgement.

    `listed`: vendor and SKU of what the platform has. It rejects a few others of the sample, so a stop-sell of these is never acknowledged.
    """
    chance = random.Random(1)
    with erp.connect() as connection:
        shelf = [row for row in connection.execute(sa.text(_ON_SALE)) if (row.vendor, row.sku) in listed]
    chance.shuffle(shelf)
    sold: list[StopSell] = []
    began_s = time.monotonic()
    for number in range(seconds):
        row = shelf.pop()
        last = number % 2 == 0
        quantity = row.quantity if last else 1
        with erp.begin() as connection:
            values = {"store": row.store_id, "product": row.product_id, "quantity": -quantity}
            connection.execute(sa.text(_BOOK), values)
        if last:
            sold.append(StopSell(row.vendor, row.sku, dt.datetime.now(dt.UTC)))
        time.sleep(max(0.0, began_s + number + 1 - time.monotonic()))
    return sold


def figures_of(
    sold: list[StopSell], outcomes: Any, requests: dict[str, int], runs: Sequence[Any], *, vendors: int, lasted_s: int
) -> dict[str, Any]:
    """Times of the stop-sells that were acknowledged, what the requests were for, and the bound.

    `runs`: those that sent something: requests with a body, seconds until the first of them, seconds in all.
    """
    known: dict[tuple[str, str], dt.datetime] = {}
    for row in outcomes:
        known.setdefault((row.vendor, row.sku), row.known_at)
    took = sorted(
        (known[one.vendor, one.sku] - one.at).total_seconds() for one in sold if (one.vendor, one.sku) in known
    )
    every = sum(requests.values()) or 1
    polls = requests.get("job_status", 0)
    return {
        "vendors": vendors,
        "seconds": lasted_s,
        "stop_sells": len(sold),
        "acknowledged": len(took),
        "p50_s": round(statistics.median(took), 1) if took else None,
        "p95_s": round(took[int(len(took) * 0.95)], 1) if took else None,
        "worst_s": round(took[-1], 1) if took else None,
        "bound_cycle_s": vendors * REQUESTS_A_VENDOR * 60 / ALLOWANCE,
        "runs": len(runs),
        "prepared_p50_s": round(statistics.median(run.prepared_s for run in runs), 1) if runs else None,
        "run_of_bound_p50": round(statistics.median(_of_bound(run) for run in runs), 2) if runs else None,
        "requests": requests,
        "allowance_used": round(every / (ALLOWANCE * lasted_s / 60), 2),
        "polls_share": round(polls / every, 3),
    }


def _of_bound(run: Any) -> float:
    """How often a run lasted as long as its requests take at the allowance."""
    return float(run.lasted_s / (run.requests * REQUESTS_A_VENDOR * 60 / ALLOWANCE))


def _finished(command: list[str], environment: dict[str, str]) -> None:
    """A command to its end. Exit code 9 is a success with a part that failed: the sample has SKUs that the platform does not know.

    Exit code 10 is a success with held changes.
    """
    done = subprocess.run(command, env=with_settings(environment), capture_output=True, text=True, check=False)
    if done.returncode not in {0, 9, 10}:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {done.stderr[-2_000:]}")


if __name__ == "__main__":
    sys.exit(main())
