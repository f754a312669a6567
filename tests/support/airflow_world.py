"""Airflow between a small ERP and the live platform, for tests that run DAGs. Imports Airflow only when it is used."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from small_erp import SQL, SmallErp

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from airflow.sdk import DAG

    from sandbox_fixture import LiveSandbox

PROJECT = Path(__file__).resolve().parents[2]
STORES = ("store-001", "store-002", "store-003")
BUNDLE = "dags-folder"
CUT = dict.fromkeys("abc", 1.234)
"""What customers of each store see after a sync."""

_days = itertools.count()
_runs = itertools.count()
_read_with: list[dict[str, str]] = []


@dataclass(frozen=True)
class World:
    """Three stores with three products each that both sides know; shelfsync's settings stand in the environment, as in production."""

    erp: SmallErp
    platform: LiveSandbox
    database_url: str = field(repr=False)

    def furnish(self) -> None:
        """Fills both sides; the platform's prices are not the ERP's."""
        for vendor in STORES:
            self.platform.put_products(
                vendor, [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in CUT]
            )
            for sku in CUT:
                self.erp.put(vendor, sku, "1.2349", 10)

    def settings(self, home: Path) -> dict[str, str]:
        """SHELFSYNC_... of this world; all stores in one shard."""
        values = {
            "HOME": home,
            "DATABASE_URL": self.database_url,
            "PLATFORM__BASE_URL": self.platform.base_url,
            "PLATFORM__CHAIN": self.platform.chain_id,
            "PLATFORM__CLIENT_ID": self.platform.client_id,
            "PLATFORM__CLIENT_SECRET": self.platform.client_secret,
            "ERP__URL": self.erp.url,
            "ERP__SQL": SQL,
            "SYNC__POLL_FIRST_S": 0.05,
            "SYNC__POLL_MAX_S": 0.2,
            "RATE_LIMIT__REQUESTS_PER_MINUTE": 60_000,
        }
        return {f"SHELFSYNC_{name}": str(value) for name, value in values.items()}

    def run(self, dag_id: str, *, at: datetime | None = None, **form: Any) -> DagRun:
        """One run by `dag.test()`; the same `at` again is the same run again."""
        day = at or a_new_day()
        write_dags()
        return read_dag(dag_id).test(run_after=day, logical_date=day, run_conf=form)

    def synced(self, *kinds: str) -> dict[str, Any]:
        """Runs before the one of a test, without Airflow, whose tasks test_sync_runs.py runs: the summary of the last."""
        from app_calls import open_calls
        from shelfsync.settings import read_settings

        summary: dict[str, Any] = {}
        with open_calls(read_settings()) as app:
            for kind in kinds:
                run_id = app.open_run(kind, f"before/{next(_runs)}")
                summary = app.sync(run_id, dry_run=False, progress=lambda *_: None)
        return summary

    def sent(self) -> list[str]:
        """The vendors of the catalog requests that the platform answered, in order; one cut off by a killed caller is none."""
        entries = self.platform.journal()["entries"]
        sent = [entry for entry in entries if entry["operation"] == "put_catalog" and entry["status"] is not None]
        return [entry["route"].split("/")[5] for entry in sent]

    def prices(self, *vendors: str) -> list[dict[str, float]]:
        """What customers see."""
        return [
            {sku: row["price"] for sku, row in self.platform.products(vendor).items()} for vendor in vendors or STORES
        ]

    def rows(self, statement: str) -> list[Any]:
        """The rows of a SELECT on ledger and warehouse."""
        import psycopg

        with psycopg.connect(self.database_url) as connection:
            return connection.execute(statement).fetchall()


def written(world: World, statement: str) -> None:
    """Changes ledger or warehouse from outside shelfsync."""
    import psycopg

    with psycopg.connect(world.database_url) as connection:
        connection.execute(statement)


def states(run: DagRun) -> dict[str, set[str]]:
    """Task (without its group) -> the states of its instances."""
    found: dict[str, set[str]] = {}
    for ti in run.get_task_instances():
        found.setdefault(ti.task_id.removeprefix("shard."), set()).add(str(ti.state))
    return found


def write_dags() -> None:
    """Writes every DAG into Airflow's database, unless it is there as the environment would have it.

    `dag.test()` reads and writes all files of its bundle before each run, a third of its CPU time; here the bundle is an empty folder.
    """
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import BundleDagBag, sync_bag_to_db

    names = ("AIRFLOW__SHELFSYNC__", "SHELFSYNC_CHAIN")
    found = {name: value for name, value in os.environ.items() if name.startswith(names)}
    if _read_with != [found]:
        folder = PROJECT / "dags"
        bag = BundleDagBag(dag_folder=folder, bundle_path=folder, bundle_name=BUNDLE)
        DagBundlesManager().sync_bundles_to_db()
        sync_bag_to_db(bag, BUNDLE, None)
        _read_with[:] = [found]


def read_dag(dag_id: str) -> DAG:
    """A DAG read afresh, as each task of a real run reads it: a run leaves its form's values in the object that it ran from."""
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(PROJECT / "dags" / f"{dag_id}.py").dags[dag_id]


def a_new_day() -> datetime:
    """A logical date that no other test has used."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=next(_days))
