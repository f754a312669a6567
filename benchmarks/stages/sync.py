"""sync: a whole run as a user starts it, from an ERP in PostgreSQL to the platform: ledger, warehouse, lake and a sandbox as a process of its own.

The sandbox and shelfsync are allowed more requests a minute than the platform allows, so that the wall time is that of the work alone.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.server import cpu_of_server, running, with_settings
from benchmarks.stage import Stage, Target, Way
from benchmarks.stages.reading import SELECT, erp, plain_copy
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET, SandboxControl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter
    from shelfsync.context import Context

REQUESTS_PER_MINUTE = 6_000
FROM_ROWS = 1_000_000
ROWS_MAX = 1_000_000
"""The sandbox holds every product in memory."""
SOLD = 20
"""One row in so many is sold between two runs, for the run with changes."""


def unchanged(chain: Chain, meter: Meter) -> Answer:
    """A delta after a full sync, with nothing changed."""
    return _measured(chain, meter, "delta", first=True)


def repeated(chain: Chain, meter: Meter) -> Answer:
    """A delta after one that changed nothing: the same rows again."""
    return _measured(chain, meter, "delta", first=True, again=True)


def changed(chain: Chain, meter: Meter) -> Answer:
    """A delta after a full sync, with one row in twenty changed."""
    return _measured(chain, meter, "delta", first=True, sold=True)


def full(chain: Chain, meter: Meter) -> Answer:
    """A second full sync: every SKU is sent, and none has changed."""
    return _measured(chain, meter, "full", first=True)


def first(chain: Chain, meter: Meter) -> Answer:
    """The first full sync: every SKU is new."""
    return _measured(chain, meter, "full")


def plan(chain: Chain, meter: Meter) -> Answer:
    """A plan of a full sync: nothing is sent."""
    return _measured(chain, meter, "full", dry_run=True, first=True)


def bound(chain: Chain, meter: Meter) -> Answer:
    """COPY out, one Parquet file a vendor written, and read again."""
    from shelfsync.store.lake import Lake

    copied, lake = plain_copy(chain, meter), Lake(str(chain.folder))
    meter.others = lambda: 0.0  # the rest is this process's own
    for shelf in chain.shelves:
        table = lake.read_table(shelf.snapshot)
        with meter:
            path = lake.write_table("bound", shelf.vendor, table)
            lake.read_table(path)
    return copied


def _measured(
    chain: Chain,
    meter: Meter,
    kind: str,
    *,
    dry_run: bool = False,
    first: bool = False,
    sold: bool = False,
    again: bool = False,
) -> Answer:
    from shelfsync.app import open_app
    from shelfsync.settings import read_settings

    with _installation(chain) as environment:
        if first:
            _sync(environment, "--full")
        if again:
            _sync(environment)
        if sold:
            _sell(environment["SHELFSYNC_ERP__URL"])
        os.environ.update(environment)  # this process measures one way, and ends
        with open_app(read_settings()) as context:
            meter.others = cpu_of_server(chain.folder)
            summary = _run(context, kind, dry_run=dry_run, meter=meter)
    return {"rows": chain.rows, "state": summary["state"], "sent": summary["sent"], "accepted": summary["accepted"]}


def _sync(environment: dict[str, str], *options: str) -> None:
    """In a process of its own, so that the measured one has no memory of it."""
    command = [sys.executable, "-m", "shelfsync", "sync", *options]
    done = subprocess.run(command, env=with_settings(environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]


def _run(context: Context, kind: str, *, dry_run: bool, meter: Meter) -> Answer:
    """One run to its report. The meter gets the CPU seconds of each step under its name."""
    from shelfsync.catalog.steps.run import open_run
    from shelfsync.catalog.steps.sync import sync

    step, since_s = "open", 0.0

    def progress(word: str, *_: int) -> None:
        nonlocal step, since_s
        now_s = time.process_time() + meter.others()
        meter.parts_cpu_s[step] = meter.parts_cpu_s.get(step, 0.0) + now_s - since_s
        step, since_s = word, now_s

    with meter:
        since_s = time.process_time() + meter.others()
        run_id = open_run(context, kind=kind, key="measured", vendors=(), dry_run=dry_run)
        summary = sync(context, run_id, dry_run=dry_run, progress=progress)
        progress("end")
    return summary


def _sell(address: str) -> None:
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(f"UPDATE stock SET quantity = quantity + 1 WHERE mod(sku::bigint, {SOLD}) = 0")


@contextlib.contextmanager
def _installation(chain: Chain) -> Iterator[dict[str, str]]:
    """The settings of an installation with a database, a lake and an ERP of so many rows, beside a sandbox that has the products."""
    options = ["--port", "0", "--set", f"requests_per_minute={REQUESTS_PER_MINUTE}"]
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sync-", dir=chain.folder)))
        address = stack.enter_context(erp(chain))
        command = [str(Path(sys.executable).parent / "partner-sandbox"), *options]
        sandbox = stack.enter_context(running(home, command, {}))
        _list_products(sandbox, address)
        yield {
            "SHELFSYNC_HOME": str(home),
            "SHELFSYNC_DATABASE_URL": address,
            "SHELFSYNC_ERP__URL": address,
            "SHELFSYNC_ERP__SQL": SELECT,
            "SHELFSYNC_PLATFORM__BASE_URL": sandbox,
            "SHELFSYNC_PLATFORM__CHAIN": CHAIN,
            "SHELFSYNC_PLATFORM__CLIENT_ID": CLIENT_ID,
            "SHELFSYNC_PLATFORM__CLIENT_SECRET": CLIENT_SECRET,
            "SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE": str(REQUESTS_PER_MINUTE),
        }


def _list_products(sandbox_url: str, address: str) -> None:
    """Every product of the ERP, at another price and off sale."""
    import psycopg

    with contextlib.closing(SandboxControl(sandbox_url)) as sandbox, psycopg.connect(address) as connection:
        for (vendor,) in connection.execute("SELECT DISTINCT vendor FROM stock").fetchall():
            skus = connection.execute("SELECT sku FROM stock WHERE vendor = %s", [vendor])
            sandbox.put_products(vendor, [{"sku": sku, "price": "1.00", "active": False} for (sku,) in skus])


def _agree(answers: Mapping[str, Answer]) -> None:
    runs = {name: answer for name, answer in answers.items() if name != "bound"}
    for name, answer in runs.items():
        assert answer["state"] == "succeeded", f"{name}: {answer}"
        expected = {"unchanged": 0, "repeated": 0, "plan": 0, "changed": answer["rows"] // SOLD}.get(
            name, answer["rows"]
        )
        assert answer["sent"] == answer["accepted"] == expected, f"{name}: {answer}"


def _cpu(way: str, at_most: float) -> Target:
    return Target(
        f"{way}: CPU seconds of shelfsync and PostgreSQL",
        lambda m: m.of(way, "cpu_s"),
        unit="s",
        at_most=at_most,
        from_rows=FROM_ROWS,
    )


STAGE = Stage(
    name="sync",
    title="a whole run of up to 20 vendors, from PostgreSQL to the platform's results; CPU of shelfsync and PostgreSQL together",
    ways=(
        Way("unchanged", "ours", "a delta, nothing changed", unchanged, rows_max=ROWS_MAX, rounds_max=1),
        Way("repeated", "ours", "a delta, the same rows again", repeated, rows_max=ROWS_MAX, rounds_max=1),
        Way("changed", "ours", "a delta, one row in twenty changed", changed, rows_max=ROWS_MAX, rounds_max=1),
        Way("full", "ours", "a full sync, nothing changed", full, rows_max=ROWS_MAX, rounds_max=1),
        Way("first", "ours", "the first full sync, all new", first, rows_max=ROWS_MAX, rounds_max=1),
        Way("plan", "ours", "a plan of a full sync", plan, rows_max=ROWS_MAX, rounds_max=1),
        Way("bound", "bound", "COPY out, Parquet written and read", bound, rows_max=ROWS_MAX, rounds_max=1),
    ),
    targets=(
        _cpu("unchanged", 6.0),
        _cpu("full", 18.0),
        Target(
            "the whole run: peak memory of a full sync",
            lambda m: [peak / 2**20 for peak in m.of("full", "peak_bytes")],
            unit="MiB",
            at_most=384,
            from_rows=FROM_ROWS,
        ),
    ),
    agree=_agree,
)
