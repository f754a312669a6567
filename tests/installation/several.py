"""Two chains with the same vendor ids and SKUs, the platform, PostgreSQL and an object store: what the composed services stand on."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import socket
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import psycopg
from psycopg.rows import dict_row

import s3_server
from installation import shelf
from installation.composed import Composed, free_port
from installation.installed import ENDED, PROJECT, SCHEDULES, Installation
from shelfsync.erp import sample
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.sandbox_control import SandboxControl
from shelfsync.local.services import answers
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHAINS = ("north", "south")
SKUS = 200
JOB_S = 5.0
"""How long the platform takes for a job, so that there is a mid-run."""
BUCKET = "lake"
JOBS = "SELECT seq, chain, vendor, state, created_us, ended_us FROM job WHERE kind = 'update' ORDER BY seq"
ITEMS = "SELECT job_seq, sku, barcode, price_milli, active, sales_limit, error FROM job_item"


class Gate:
    """A port in front of another. While it is shut, open connections are cut and new ones refused."""

    def __init__(self, behind: int) -> None:
        self.port = free_port()
        self._behind = behind
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []
        self._server: socket.socket | None = None

    def open(self) -> None:
        server = self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(server,), daemon=True).start()

    def shut(self) -> None:
        with self._lock:
            server, self._server = self._server, None
            for one in (server, *self._connections):
                if one is not None:
                    _cut(one)
            self._connections.clear()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                near, _ = server.accept()
                far = socket.create_connection(("127.0.0.1", self._behind))
            except OSError:
                return
            with self._lock:
                if self._server is not server:
                    _cut(near)
                    _cut(far)
                    return
                self._connections += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=(source, target), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65_536):
            target.sendall(piece)
    _cut(source)
    _cut(target)


def _cut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@dataclass
class Several:
    """Everything that is up. `record` is the folder of the sandbox's own database."""

    composed: Composed
    airflow: Installation
    postgres: EmbeddedPostgres
    bucket: Gate
    record: Path
    stores: int
    began_s: float = field(default_factory=time.monotonic)
    runs: dict[str, str] = field(default_factory=dict)
    """Of each chain, the run of its full sync."""

    def note(self, what: str) -> None:
        """A line of what happened when, which pytest shows of a failed test."""
        print(f"{time.monotonic() - self.began_s:6.1f} s  {what}", flush=True)

    def journal(self) -> dict[str, Any]:
        """The counts of the sandbox's journal, without its lines."""
        return dict(self.airflow.sandbox("GET", f"/journal?after={10**9}"))

    def jobs(self) -> dict[str, int]:
        """Jobs of the platform by their state."""
        return dict(self.airflow.sandbox("GET", "/state")["jobs"])

    def going_on(self) -> bool:
        """Whether a sync has not ended."""
        return any(self.airflow.run_state(dag(chain), run) not in ENDED for chain, run in self.runs.items())

    def tasks(self) -> list[dict[str, Any]]:
        """Task instances of both syncs."""
        return [task for chain, run in self.runs.items() for task in self.airflow.tasks(dag(chain), run)]

    def running(self) -> list[str]:
        """Task instances at work."""
        return [_name(task) for task in self.tasks() if task["state"] == "running"]

    def tried_again(self) -> list[str]:
        """Task instances of more than one try, with the beginning of the last one in seconds."""
        passed_s = time.monotonic() - self.began_s
        return [
            f"{_name(task)} at {passed_s - (self.now() - dt.datetime.fromisoformat(task['start_date'])).total_seconds():.0f}"
            for task in self.tasks()
            if task["try_number"] > 1
        ]

    def progress(self) -> str:
        """How many task instances are in which state."""
        return str(dict(Counter(str(task["state"]) for task in self.tasks())))

    def now(self) -> dt.datetime:
        """By the clock that Airflow's times are of."""
        return dt.datetime.now(dt.UTC)

    def task_ended_after(self, instant: dt.datetime) -> bool:
        """Whether a task succeeded that began after an instant."""
        return any(
            task["state"] == "success" and dt.datetime.fromisoformat(task["start_date"]) > instant
            for task in self.tasks()
        )

    def differences(self, chain: str) -> list[str]:
        """A line for each product of the platform that differs from the chain's ERP."""
        with psycopg.connect(self.postgres.dsn(f"erp_{chain}"), row_factory=dict_row) as connection:
            rows = {(row["vendor"], row["sku"]): row for row in connection.execute(shelf.SELECT.rstrip().rstrip(";"))}
        assert len({vendor for vendor, _ in rows}) == self.stores
        platform = SandboxControl(self.airflow.sandbox_url, f"{chain}-chain")
        try:
            return shelf.differing(rows, lambda vendor: {one["sku"]: one for one in platform.held(vendor)})
        finally:
            platform.close()


def _name(task: dict[str, Any]) -> str:
    return f"{task['dag_id'].rpartition('__')[2]} {task['task_id'].rpartition('.')[2]} {task['map_index']}"


def in_vain(record: Path) -> list[str]:
    """By the sandbox's record, which it holds while it runs: update jobs of which every item had been accepted before the job was sent."""
    with contextlib.closing(sqlite3.connect(record / "partner-sandbox.sqlite")) as connection:
        jobs = connection.execute(JOBS).fetchall()
        items: dict[int, dict[Any, Any]] = {}
        for job, *key, error in connection.execute(ITEMS):
            items.setdefault(job, {})[tuple(key)] = error
    assert jobs, "the sandbox recorded no job"
    found = []
    for job, chain, vendor, _, created_us, _ in jobs:
        known = {
            item
            for earlier, its_chain, its_vendor, state, _, ended_us in jobs
            if (its_chain, its_vendor, state) == (chain, vendor, "COMPLETED") and ended_us < created_us
            for item, error in items[earlier].items()
            if error is None
        }
        if known.issuperset(items[job]):
            found.append(f"{chain} {vendor}: job {job} of {len(items[job])} items")
    return found


def dag(chain: str) -> str:
    return f"catalog_full_sync__{chain}"


@contextlib.contextmanager
def platform(record: Path, job_s: float = JOB_S) -> Iterator[str]:
    """The address of a sandbox that keeps its record in a folder, and takes so long for each job."""
    port = free_port()
    command = [str(PROJECT / ".venv/bin/partner-sandbox"), "--port", str(port), "--quiet"]
    command += ["--job-seconds", str(job_s), "--data", str(record)]
    with record.with_suffix(".log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            deadline_s = time.monotonic() + 60
            while not answers(url) and time.monotonic() < deadline_s:
                time.sleep(0.2)
            yield url
        finally:
            process.terminate()


def settings(chain: str, erp: str) -> dict[str, str]:
    """Of one chain, as they stand in shelfsync.env."""
    given = {
        "PLATFORM__CHAIN": f"{chain}-chain",
        "PLATFORM__CLIENT_ID": f"{chain}-client",
        "PLATFORM__CLIENT_SECRET": f"{chain}-secret",
        "ERP__URL": erp.replace("postgresql://", "postgresql+psycopg://", 1),
        "ERP__SQL_FILE": str(sample.SELECT_FILE),
        "WEBHOOK__SECRET": f"the webhook's secret of {chain}",
    }
    return {f"SHELFSYNC_CHAINS__{chain.upper()}__{name}": value for name, value in given.items()}


@contextlib.contextmanager
def running(home: Path, *, stores: int, workers: int) -> Iterator[Several]:
    """All of it in a folder that PostgreSQL can reach; each chain has so many stores of 200 SKUs, and Airflow knows its DAGs."""
    home.mkdir()
    with contextlib.ExitStack() as closing:
        record = home / "sandbox"
        sandbox_url = closing.enter_context(platform(record))
        store = closing.enter_context(s3_server.running())
        httpx.put(f"{store}/{BUCKET}", trust_env=False).raise_for_status()
        bucket = Gate(int(urlsplit(store).port or 0))
        bucket.open()
        closing.callback(bucket.shut)
        postgres = EmbeddedPostgres(home)
        postgres.ensure_started()
        closing.callback(postgres.stop)
        given = {f"AIRFLOW__SHELFSYNC__{name}_SCHEDULE": "none" for name in SCHEDULES}
        given |= {
            "SHELFSYNC_PLATFORM__BASE_URL": sandbox_url,
            "SHELFSYNC_SYNC__VENDORS_PER_SHARD": "1",
            "SHELFSYNC_LAKE_URL": f"s3://{BUCKET}/shelfsync",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{bucket.port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
        for chain in CHAINS:
            given |= settings(chain, postgres.create_database(f"erp_{chain}"))
        composed = Composed(home / "state", postgres.dsn(), given, workers)
        for chain in CHAINS:
            fill(postgres, sandbox_url, chain, f"{composed.api_url}/shelfsync/{chain}/webhook", stores)
            done = composed.run("worker", "shelfsync", "check", "--chain", chain)
            assert done.returncode == 0, f"{chain}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        closing.callback(composed.down)
        composed.up()
        word = json.loads((composed.home / "airflow/simple_auth_manager_passwords.json.generated").read_text("utf-8"))
        printed = f"up Airflow {composed.api_url} password {word['admin']}\nup sandbox {sandbox_url}\n"
        airflow = Installation(composed.home, printed=printed)
        airflow.until(lambda: {dag(chain) for chain in CHAINS} <= airflow.dags().keys(), "the DAGs of both chains")
        closing.callback(airflow.forget_airflow)
        yield Several(composed, airflow, postgres, bucket, record, stores)


def fill(postgres: EmbeddedPostgres, sandbox_url: str, chain: str, webhook: str, stores: int) -> None:
    """The chain's ERP, its assortment at the platform, and where the platform sends its events."""
    erp = create_engine(postgres.dsn(f"erp_{chain}"))
    sandbox = SandboxControl(sandbox_url, f"{chain}-chain")
    try:
        sample.create(erp, vendors=stores, skus_per_vendor=SKUS)
        sandbox.make_chain(f"{chain}-client", f"{chain}-secret")
        for vendor, products in sample.assortment(erp).items():
            sandbox.put_products(vendor, products)
        sandbox.send_events_to(webhook, f"the webhook's secret of {chain}")
    finally:
        erp.dispose()
        sandbox.close()
