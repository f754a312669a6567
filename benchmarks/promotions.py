"""2,000,000 pairs of SKU and vendor from the ERP's file to the sandbox: read, judged, planned, cut, committed, sent.

`python -m benchmarks.promotions [--pairs N] [--vendors N] [--shape shared|apart] [--promotions N …]` prints seconds a step and the peak memory
of the process and writes benchmarks/results/promotions.json. `--promotions` measures the confirming of so many small promotions instead.

shared: one campaign for all vendors, written once with `*`. apart: every vendor has prices of its own, so each has a promotion. The sandbox
is a process of its own and the database a server of its own; the requests pass the allowance of `--requests-per-minute` (60, as in production).
What is sent is answered with 202; the platform's own work on it is not part of the figure.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from benchmarks.stage import described, load_average, memory_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context
    from shelfsync.settings import Settings

PROJECT = Path(__file__).resolve().parents[1]
RESULT = PROJECT / "benchmarks" / "results" / "promotions.json"
_CHUNK = 100_000
_DISTINCT_PRICES = 400
SKUS_OF_MANY = 3
"""SKUs of each promotion of the shape `many`."""


def measure(*, pairs: int, vendors: int, shape: str, requests_per_minute: int = 60) -> dict[str, float]:
    """Seconds of each step and all together, requests, bytes, and the peak of a process of its own in MiB."""
    return _measured(pairs, vendors, shape, "--requests-per-minute", str(requests_per_minute))


def measure_confirming(promotions: int) -> dict[str, float]:
    """Seconds of plan, confirm and a run without changes over so many promotions of three SKUs; CPU is of the one process."""
    return _measured(promotions * SKUS_OF_MANY, 3, "many", "--confirm")


def _measured(pairs: int, vendors: int, shape: str, *how: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.promotions", "--child", *how]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHELFSYNC_")}
    environment["PYTHONPATH"] = f"{PROJECT / 'include'}:{PROJECT}"
    with _world(vendors, pairs // vendors, shape) as (folder, url, base_url):
        environment |= {"BENCH_FOLDER": str(folder), "BENCH_URL": url, "BENCH_PLATFORM": base_url}
        done = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


@contextlib.contextmanager
def _world(vendors: int, skus: int, shape: str) -> Iterator[tuple[Path, str, str]]:
    """A database with the schema and a catalog, the ERP's file, and a sandbox that knows the vendors."""
    import httpx

    from benchmarks.server import running
    from shelfsync.local.postgres import running_postgres
    from shelfsync.migrations.upgrade import upgrade
    from shelfsync.store.engine import create_engine

    with tempfile.TemporaryDirectory(prefix="shelfsync-bench-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o711)
        url = stack.enter_context(running_postgres(folder / "postgres"))
        engine = create_engine(url)
        stack.callback(engine.dispose)
        upgrade(engine)
        names = [f"vendor-{number:03}" for number in range(vendors)]
        _catalog(engine, folder, names, skus)
        _campaign(folder / "promotions.parquet", names, skus, shape)
        command = [str(Path(sys.executable).parent / "partner-sandbox"), "--port", "0", "--job-seconds", "3600"]
        base_url = stack.enter_context(running(folder, command, {}))
        with httpx.Client(base_url=base_url, timeout=60, trust_env=False) as control:
            for vendor in names:
                control.put(f"/_sandbox/chains/demo-chain/vendors/{vendor}").raise_for_status()
        yield folder, url, base_url


def _catalog(engine: sa.Engine, folder: Path, vendors: list[str], skus: int) -> None:
    """What the platform acknowledged: every SKU at 10, in one file that all vendors share."""
    from shelfsync.schemas import BASELINE
    from shelfsync.store.lake import Lake

    rows = {
        "sku": pa.array([f"sku-{number:07}" for number in range(skus)]),
        "price": pa.array([Decimal("10.000")] * skus, BASELINE.field("price").type),
        "active": pa.array([True] * skus),
    }
    columns = [rows.get(field.name, pa.nulls(skus, field.type)) for field in BASELINE]
    path = Lake(str(folder / "lake")).write_table("baseline", "all", pa.Table.from_arrays(columns, schema=BASELINE))
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO ledger.run (run_key, kind) VALUES ('bench', 'full')"))
        connection.execute(
            sa.text("SET session_replication_role = replica")
        )  # a baseline without the job that moved it
        for number, vendor in enumerate(vendors, 1):
            values = {"vendor": vendor, "path": path, "rows": skus, "job": number}
            connection.execute(
                sa.text("INSERT INTO ledger.vendor (vendor, fence, baseline_version) VALUES (:vendor, 1, 1)"), values
            )
            connection.execute(
                sa.text(
                    "INSERT INTO ledger.baseline (vendor, version, path, rows, generation, job_id) VALUES (:vendor, 1, :path, :rows, 1, :job)"
                ),
                values,
            )


def _campaign(path: Path, vendors: list[str], skus: int, shape: str) -> None:
    now = dt.datetime.now(dt.UTC)
    of = ["*"] if shape == "shared" else vendors
    schema = pa.schema(
        [(name, pa.string()) for name in ("campaign", "vendor", "sku", "price", "name", "start_time", "end_time")]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for place, vendor in enumerate(of):
            for first in range(0, skus, _CHUNK):
                numbers = range(first, min(first + _CHUNK, skus))
                each = [f"c{place}-{number // SKUS_OF_MANY}" if shape == "many" else "spring" for number in numbers]
                columns = {
                    "campaign": each,
                    "vendor": [vendor] * len(numbers),
                    "sku": [f"sku-{number:07}" for number in numbers],
                    "price": [f"{5 + (number + place) % _DISTINCT_PRICES / 100:.2f}" for number in numbers],
                    "name": each,
                    "start_time": [now.isoformat()] * len(numbers),
                    "end_time": [(now + dt.timedelta(days=7)).isoformat()] * len(numbers),
                }
                writer.write_table(pa.table(columns, schema=schema))


def _settings(requests_per_minute: int) -> Settings:
    from shelfsync.settings import Settings

    folder = Path(os.environ["BENCH_FOLDER"])
    return Settings(
        home=folder / "home",
        database_url=os.environ["BENCH_URL"],
        lake_url=str(folder / "lake"),
        platform={
            "base_url": os.environ["BENCH_PLATFORM"],
            "chain": "demo-chain",
            "client_id": "demo-client",
            "client_secret": "demo-secret",
        },
        promotions={"files": str(folder / "promotions.parquet"), "assortment_share_max": 1.0},
        rate_limit={"requests_per_minute": requests_per_minute},
    )


def _child(requests_per_minute: int, *, confirming: bool) -> None:
    """The measured process."""
    from shelfsync.app import open_app
    from shelfsync.promotions.steps.confirm import confirm
    from shelfsync.promotions.steps.deliver import deliver
    from shelfsync.promotions.steps.extract import extract, open_run
    from shelfsync.promotions.steps.plan import plan

    figures: dict[str, float] = {}
    began_s = time.perf_counter()
    with open_app(_settings(requests_per_minute)) as context:
        run_id = open_run(context, "bench", dry_run=False)
        steps = [("extract", lambda: extract(context, run_id)), ("plan", lambda: plan(context, run_id))]
        steps += (
            [
                ("end", lambda: _end_all(context)),
                ("confirm", lambda: confirm(context)),
                ("again", lambda: _again(context)),
            ]
            if confirming
            else [("deliver", lambda: deliver(context))]
        )
        for word, step in steps:
            step_s, step_cpu_s = time.perf_counter(), time.process_time()
            step()
            figures[f"{word}_s"] = round(time.perf_counter() - step_s, 2)
            figures[f"{word}_cpu_s"] = round(time.process_time() - step_cpu_s, 2)
        figures["all_s"] = round(time.perf_counter() - began_s, 2)
        with context.engine.connect() as connection:
            jobs = connection.execute(
                sa.text(
                    "SELECT count(*) FILTER (WHERE state IN ('open', 'acknowledged')), count(*), sum(sent), sum(body_bytes) FROM ledger.promotion_request JOIN ledger.job USING (request_id)"
                )
            ).one()
    figures |= {"taken": jobs[0], "requests": jobs[1], "pairs": int(jobs[2] or 0), "bytes": int(jobs[3] or 0)}
    figures["peak_mib"] = round(memory_bytes("VmHWM") / 2**20)
    print(json.dumps(figures))


def _again(context: Context) -> None:
    """A run without changes."""
    from shelfsync.promotions.steps.extract import open_run
    from shelfsync.promotions.steps.sync import sync

    assert sync(context, open_run(context, "again", dry_run=False))["counts"]["requests"] == 0


def _end_all(context: Context) -> None:
    """Every planned request as if it had been sent, and as if the platform had reported its end."""
    result = context.lake.write_bytes("promotion_result", "all", ".json", b"{}")
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE ledger.job SET state = 'open', platform_job_id = 'bench-' || job_id, platform_status = 'COMPLETED', attempts = 1,"
                " result_path = :path, answered_at = now(), deadline_at = now() + interval '1 hour'"
            ),
            {"path": result},
        )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promotions", description=__doc__)
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument("--vendors", type=int, default=20)
    parser.add_argument("--shape", choices=("shared", "apart"), action="append")
    parser.add_argument("--requests-per-minute", type=int, default=60)
    parser.add_argument("--promotions", type=int, nargs="+")
    parser.add_argument("--confirm", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        _child(asked.requests_per_minute, confirming=asked.confirm)
        return
    if asked.promotions:
        for promotions in asked.promotions:
            print(promotions, json.dumps(measure_confirming(promotions)), flush=True)
        return
    shapes = {}
    for shape in asked.shape or ("shared", "apart"):
        figures = shapes[shape] = measure(
            pairs=asked.pairs, vendors=asked.vendors, shape=shape, requests_per_minute=asked.requests_per_minute
        )
        print(shape, json.dumps(figures), flush=True)
    result = {"pairs": asked.pairs, "machine": described(), "load_average": load_average(), "shapes": shapes}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
