"""sync: a whole run as a user starts it, from an ERP in PostgreSQL to the platform: ledger, warehouse, lake and a sandbox as a process of its own.

The sandbox and shelfsync are allowed more requests a minute than the platform allows, so that the wall time is that of the work alone.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chain import VENDOR_ROWS
from benchmarks.server import cpu_of_server, running, with_settings
from benchmarks.stage import Stage, Target, Way
from benchmarks.stages.reading import SELECT, erp, plain_copy
from shelfsync.local import postgres_binaries
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET, SandboxControl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter, Role
    from shelfsync.context import Context

    Run = Callable[[Chain, Meter, int], Answer]

REQUESTS_PER_MINUTE = 6_000
FROM_ROWS = 1_000_000
ROWS_MAX = 1_000_000
"""The sandbox holds every product in memory."""
SOME, MANY = 100, 20
"""One row in so many is sold between two runs, for the runs with changes."""


def unchanged(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """A delta after a full sync, with nothing changed."""
    return _measured(chain, meter, rows_each, "delta", first=True)


def repeated(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """A delta after one that changed nothing: the same rows again."""
    return _measured(chain, meter, rows_each, "delta", first=True, again=True)


def some(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """A delta after a full sync, with one row in a hundred changed."""
    return _measured(chain, meter, rows_each, "delta", first=True, sold=SOME)


def changed(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """A delta after a full sync, with one row in twenty changed."""
    return _measured(chain, meter, rows_each, "delta", first=True, sold=MANY)


def full(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """A second full sync: every SKU is sent, and none has changed."""
    return _measured(chain, meter, rows_each, "full", first=True)


def first(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """The first full sync: every SKU is new."""
    return _measured(chain, meter, rows_each, "full")


def plan(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """A plan of a full sync: nothing is sent."""
    return _measured(chain, meter, rows_each, "full", dry_run=True, first=True)


def bound(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """COPY out, one Parquet file a vendor written, and read again."""
    from shelfsync.store.lake import Lake

    copied, lake = plain_copy(chain, meter, rows_each), Lake(str(chain.folder))
    meter.others = lambda: 0.0  # the rest is this process's own
    for vendor, table in _tables(chain, rows_each):
        with meter:
            path = lake.write_table("bound", vendor, table)
            lake.read_table(path)
    return copied


def lower_bound(chain: Chain, meter: Meter, rows_each: int) -> Answer:
    """`psql` that copies the rows out, one Arrow IPC file a vendor written, and read again."""
    from pyarrow import feather

    with erp(chain, rows_each) as address, tempfile.TemporaryDirectory(dir=chain.folder) as folder:
        server, client = cpu_of_server(chain.folder), _cpu_of_children()
        meter.others = lambda: server() + client()
        with meter, (Path(folder) / "rows").open("wb") as out:
            subprocess.run(
                [postgres_binaries.find().program("psql"), address, "-qc", f"COPY ({SELECT}) TO STDOUT"],
                stdout=out,
                check=True,
            )
        meter.others = lambda: 0.0
        for vendor, table in _tables(chain, rows_each):
            path = str(Path(folder) / vendor)
            with meter:
                feather.write_feather(table, path, compression="lz4")
                feather.read_table(path)
    return {"rows": chain.rows}


def _tables(chain: Chain, rows_each: int) -> Iterator[tuple[str, pa.Table]]:
    """The snapshots in pieces of so many rows, as small vendors have them."""
    for shelf in chain.shelves:
        whole = chain.lake.read_table(shelf.snapshot)
        for start in range(0, whole.num_rows, rows_each):
            yield f"{shelf.vendor}-{start}", whole.slice(start, rows_each)


def _cpu_of_children() -> Callable[[], float]:
    return lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _measured(
    chain: Chain,
    meter: Meter,
    rows_each: int,
    kind: str,
    *,
    dry_run: bool = False,
    first: bool = False,
    sold: int = 0,
    again: bool = False,
) -> Answer:
    from shelfsync.app import open_app
    from shelfsync.settings import read_settings

    with _installation(chain, rows_each) as environment:
        if first:
            _sync(environment, "--full")
        if again:
            _sync(environment)
        if sold:
            _sell(environment["SHELFSYNC_ERP__URL"], sold)
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
        if word == step:
            return  # to ask for the server's CPU costs much itself
        now_s = time.process_time() + meter.others()
        meter.parts_cpu_s[step] = meter.parts_cpu_s.get(step, 0.0) + now_s - since_s
        step, since_s = word, now_s

    with meter:
        since_s = time.process_time() + meter.others()
        run_id = open_run(context, kind=kind, key="measured", vendors=(), dry_run=dry_run)
        summary = sync(context, run_id, dry_run=dry_run, progress=progress)
        progress("end")
    return summary


def _sell(address: str, every: int) -> None:
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(f"UPDATE stock SET quantity = quantity + 1 WHERE mod(sku::bigint, {every}) = 0")


@contextlib.contextmanager
def _installation(chain: Chain, rows_each: int) -> Iterator[dict[str, str]]:
    """The settings of an installation with a database, a lake and an ERP of so many rows, beside a sandbox that has the products."""
    options = ["--port", "0", "--set", f"requests_per_minute={REQUESTS_PER_MINUTE}"]
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sync-", dir=chain.folder)))
        address = stack.enter_context(erp(chain, rows_each))
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
    sold = {"unchanged": 0, "repeated": 0, "plan": 0, "some": SOME, "changed": MANY}
    for name, answer in answers.items():
        if name.endswith("bound"):
            continue
        assert answer["state"] == "succeeded", f"{name}: {answer}"
        every = sold.get(name, 1)
        assert answer["sent"] == answer["accepted"] == (answer["rows"] // every if every else 0), f"{name}: {answer}"


def _stage(name: str, title: str, rows_each: int, limits: dict[str, float], peak_mib: int) -> Stage:
    """The runs of vendors of so many rows. `limits`: the CPU of a way over that of the bound, at most."""
    ways: tuple[tuple[str, Role, str, Run], ...] = (
        ("unchanged", "ours", "a delta after a full sync, nothing changed", unchanged),
        ("repeated", "ours", "a delta, the same rows again", repeated),
        ("some", "ours", "a delta, one row in a hundred changed", some),
        ("changed", "ours", "a delta, one row in twenty changed", changed),
        ("full", "ours", "a full sync, nothing changed", full),
        ("first", "ours", "the first full sync, all new", first),
        ("plan", "ours", "a plan of a full sync", plan),
        ("bound", "bound", "COPY out, Parquet written and read", bound),
        ("lower_bound", "bound", "psql's COPY out, Arrow IPC written and read", lower_bound),
    )
    return Stage(
        name=name,
        title=f"a whole run of {title}, from PostgreSQL to the platform's results; CPU of shelfsync and PostgreSQL together",
        ways=tuple(
            Way(way, role, text, partial(run, rows_each=rows_each), rows_max=ROWS_MAX, rounds_max=1)
            for way, role, text, run in ways
        ),
        targets=(
            *(
                Target.ratio(
                    f"{title}, {text}: CPU against COPY out, Parquet written and read",
                    way,
                    "bound",
                    at_most=limits[way],
                    from_rows=FROM_ROWS,
                )
                for way, _, text, _ in ways
                if way in limits
            ),
            Target(
                f"{title}: peak memory of a full sync",
                lambda m: [peak / 2**20 for peak in m.of("full", "peak_bytes")],
                unit="MiB",
                at_most=peak_mib,
                from_rows=FROM_ROWS,
            ),
        ),
        agree=_agree,
    )


LARGE = _stage(
    "sync",
    "large vendors, 50,000 SKUs each",
    VENDOR_ROWS,
    {"repeated": 1.0, "some": 2.0, "changed": 3.0, "full": 4.0, "first": 6.0, "plan": 2.0},
    peak_mib=256,
)
SMALL = _stage(
    "small-vendors",
    "small vendors, 5,000 SKUs each",
    VENDOR_ROWS // 10,
    {"repeated": 1.5, "some": 4.0, "full": 7.0, "first": 9.0},
    peak_mib=256,
)
