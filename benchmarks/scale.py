"""What a vendor costs, from few vendors to many: CPU, statements, transactions, requests to the lake on S3, and wall.

    make bench-scale                                      10, 50 and 200 vendors of 500 SKUs, one chain and four
    make bench-scale ARGS="--vendors 100 300 1000 --skus 5000"    some hours

Each size has its own databases, ERP (SQLite), sandbox without a request limit, and S3 server. After a full sync, a delta is measured in which
one SKU in fifty of every vendor has changed, and one that finds nothing. Chains have the same vendors and SKUs, and run one after the other in one
process, so that CPU is comparable. CPU is that of this process and of PostgreSQL. Growth is the cost of a vendor at the largest size over that at
the smallest; more than GROWTH_MAX ends with 1. The serial share is what one task of a run does for all vendors: recover, extract, report.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

import s3_server
from benchmarks.server import cpu_of_server, running
from benchmarks.stage import described, forget_settings
from shelfsync.app import open_app
from shelfsync.catalog.ledger import runs
from shelfsync.catalog.steps.sync import sync
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET, SandboxControl
from shelfsync.settings import Settings
from small_erp import SQL, SmallErp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

GROWTH_MAX = 1.10
CHANGED_EACH = 50
"""One SKU in so many has another price in the delta."""
SERIAL = ("recover", "extract", "report")
LIMITED = ("cpu_ms", "statements", "transactions", "requests")
"""What may not grow. Wall is the sandbox's and the S3 server's too, which are test servers."""
LIFTED = (
    *("--job-seconds", "0", "--set", "requests_per_minute=1000000"),
    *("--set", "token_requests_per_minute=1000000", "--set", "link_life_s=86400"),
)
"""No limit, and links that live as long as a thousand vendors take on a busy machine."""


def main() -> int:
    """Prints the figures as JSON, and on standard error a line a measurement."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--vendors", type=int, nargs="+", default=[10, 50, 200], help="sizes, of all chains together")
    parser.add_argument("--skus", type=int, default=500, help="of a vendor")
    parser.add_argument("--chains", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args()
    forget_settings()
    found = []
    for chains in options.chains:
        for vendors in sorted({max(chains, size // chains * chains) for size in options.vendors}):
            for row in measured(vendors, options.skus, chains):
                found.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
    growths = growth(found)
    print(json.dumps({"curve": found, "growth": growths, "growth_max": GROWTH_MAX} | described(), indent=2))
    return int(any(one[what] > GROWTH_MAX for one in growths for what in LIMITED))


def growth(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each number of chains and kind of delta: the cost of a vendor at the largest size over that at the smallest."""
    series: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in found:
        series.setdefault((row["chains"], row["delta"]), []).append(row)
    return [
        {
            "chains": chains,
            "delta": delta,
            "from": rows[0]["vendors"],
            "to": rows[-1]["vendors"],
            **{
                what: round(rows[-1][what] / rows[0][what], 2) if rows[0][what] else 1.0
                for what in (*LIMITED, "wall_ms")
            },
        }
        for (chains, delta), rows in series.items()
    ]


def measured(vendors: int, skus: int, chains: int) -> list[dict[str, Any]]:
    """Two rows: a delta with changes in every vendor, and one without any."""
    with tempfile.TemporaryDirectory(prefix="shelfsync-scale-") as name, contextlib.ExitStack() as closing:
        folder = Path(name)
        folder.chmod(0o711)
        postgres = EmbeddedPostgres(folder, fsync=False, echo=lambda _: None)
        postgres.ensure_started()
        closing.callback(postgres.stop)
        names = [f"store-{number:05}" for number in range(vendors // chains)]
        worlds = [
            _Chain(closing, folder / f"chain-{number}", postgres.create_database(f"chain_{number}"), names, skus)
            for number in range(chains)
        ]
        closing.enter_context(_bucket())
        meter = _Meter(cpu_of_server(folder))
        for world in worlds:
            meter.run(world, closing, "full")
        rows = []
        for kind in ("changed", "same"):
            for world in worlds:
                if kind == "changed":
                    world.change()
                else:
                    meter.run(world, closing, "delta")  # it finds that nothing is left
            meter.clear()
            with s3_server.requests_recorded() as requests:
                for world in worlds:
                    meter.run(world, closing, "delta")
            rows.append(meter.row(vendors, skus, chains, kind, len(requests)))
        return rows


class _Chain:
    """One chain: its ERP, its platform, its database and its folder of the lake."""

    def __init__(
        self, closing: contextlib.ExitStack, folder: Path, database_url: str, names: list[str], skus: int
    ) -> None:
        folder.mkdir()
        command = [str(Path(sys.executable).parent / "partner-sandbox"), "--port", "0", "--quiet", *LIFTED]
        address = closing.enter_context(running(folder, command, {}))
        self.erp, self._price = SmallErp(folder / "erp.sqlite"), 1
        listed = [f"{number:06}" for number in range(skus)]
        with contextlib.closing(sqlite3.connect(self.erp.file)) as connection, connection:
            connection.executemany(
                "INSERT INTO stock VALUES (?, ?, NULL, '1.00', 10, 1, NULL)",
                [(name, sku) for name in names for sku in listed],
            )
        products = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in listed]
        sandbox = SandboxControl(address)
        closing.callback(sandbox.close)
        for name in names:
            sandbox._call("PUT", f"{sandbox._vendor(name)}", {})  # noqa: SLF001  as the tests make a vendor
            sandbox.put_products(name, products)
        self.settings = Settings(
            home=folder / "home",
            database_url=database_url,
            lake_url=f"s3://chain/{folder.name}",
            platform={"base_url": address, "chain": CHAIN, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET},
            erp={"url": self.erp.url, "sql": SQL},
            sync={"poll_first_s": 1, "poll_max_s": 1, "job_deadline_s": 7_200},
            rate_limit={"requests_per_minute": 60_000, "pause_max_s": 0.2},
        )
        self.context: Context | None = None

    def change(self) -> None:
        """Another price for one SKU in CHANGED_EACH of every vendor."""
        self._price += 1
        self.erp.execute(
            "UPDATE stock SET price = ? WHERE CAST(sku AS INTEGER) % ? = 0", f"1.0{self._price}", CHANGED_EACH
        )


class _Meter:
    """Adds up the cost of runs, of several chains together."""

    def __init__(self, server_cpu_s: Any) -> None:
        self._server_cpu_s = server_cpu_s
        self._keys = iter(range(1_000_000))
        self.clear()

    def clear(self) -> None:
        self._counts: Counter[str] = Counter()
        self._cpu_s: Counter[str] = Counter()
        self._wall_s = 0.0

    def run(self, world: _Chain, closing: contextlib.ExitStack, kind: str) -> None:
        """One run to its report."""
        if world.context is None:
            world.context = closing.enter_context(open_app(world.settings))
            self._listen(world.context.engine)
        context = world.context
        with context.engine.begin() as connection:
            run_id = runs.open_run(connection, key=f"scale/{next(self._keys)}", kind=kind, vendors=(), dry_run=False)
        at, began_s = self._cpu_now_s(), time.perf_counter()
        word = "recover"

        def progress(step: str, *_: int) -> None:
            nonlocal at, word
            now = self._cpu_now_s()
            self._cpu_s[word] += now - at
            at, word = now, step

        sync(context, run_id, dry_run=False, progress=progress)
        self._cpu_s["report"] += self._cpu_now_s() - at  # what comes after the last progress of a step
        self._wall_s += time.perf_counter() - began_s

    def row(self, vendors: int, skus: int, chains: int, kind: str, requests: int) -> dict[str, Any]:
        """The cost of a vendor."""
        cpu_s = sum(self._cpu_s.values())
        return {
            "vendors": vendors,
            "skus": skus,
            "chains": chains,
            "delta": kind,
            "cpu_ms": round(1000 * cpu_s / vendors, 1),
            "wall_ms": round(1000 * self._wall_s / vendors, 1),
            **{what: round(self._counts[what] / vendors, 1) for what in ("statements", "transactions")},
            "requests": round(requests / vendors, 1),
            "serial_share": round(sum(self._cpu_s[word] for word in SERIAL) / cpu_s, 2),
            "cpu_ms_by_step": {word: round(1000 * spent_s / vendors, 1) for word, spent_s in self._cpu_s.items()},
        }

    def _cpu_now_s(self) -> float:
        return time.process_time() + float(self._server_cpu_s())

    def _listen(self, engine: sa.Engine) -> None:
        @sa.event.listens_for(engine, "begin")
        def begin(_connection: Connection) -> None:
            self._counts["transactions"] += 1

        @sa.event.listens_for(engine, "before_cursor_execute")
        def execute(*_: Any) -> None:
            self._counts["statements"] += 1


@contextlib.contextmanager
def _bucket() -> Iterator[None]:
    """A bucket `chain` on an S3 server of this run, which the environment names."""
    with s3_server.running() as address, s3_server.bucket_on(address):
        yield


if __name__ == "__main__":
    sys.exit(main())
