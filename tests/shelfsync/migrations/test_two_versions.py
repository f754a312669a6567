"""Workers of two versions on the recorded release with work under way: real processes, the old ones of the code that was recorded.

If no migration follows the recorded release yet, the next version is made up: its migrations stand here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

from app_calls import open_calls
from orders_world import SECRET, OrdersWorld
from recorded_release import Recording, environment_of, settings_of
from serving import serving
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.steps import lists as alerts
from shelfsync.migrations.upgrade import HEAD, _config
from shelfsync.receiver.server import config, receiver_app
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app_calls import Calls
    from sandbox_fixture import LiveSandbox
    from shelfsync.settings import Settings
    from small_erp import SmallErp

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
FIRST = ROOT / "include/shelfsync/migrations/versions/0001_schema.py"
EXPANDING = """
from alembic import op
import sqlalchemy as sa
revision, down_revision, EXPANDS = "next_expand", "{first}", True
def upgrade():
    op.add_column("vendor", sa.Column("colour", sa.Text, comment="made up"), schema="ledger")
    op.execute("UPDATE ledger.vendor SET colour = 'green'")
"""
CONTRACTING = """
from alembic import op
revision, down_revision, EXPANDS = "next_contract", "next_expand", False
def upgrade():
    op.drop_column("vendor", "names_path", schema="ledger")
"""


class Worker:
    """A process of this version or of a made-up next one; it acts when it is told to."""

    def __init__(self, environment: dict[str, str], version: tuple[str, str], *acts: str) -> None:
        tree = ("include", "tests/support", "sandbox/src", "sandbox/tests/support")
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/support/worker_of_version.py"), *version, *acts],
            env=environment | {"PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in tree)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def go(self) -> None:
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def result(self) -> str:
        return self._process.stdout.readline().strip()

    def act(self) -> str:
        self.go()
        return self.result()

    def end(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


@pytest.fixture
def migrations(tmp_path):
    """`migrations(text, ...)`: a folder with the first migration as it is now, and these."""

    def made(*texts: str) -> str:
        folder = tmp_path / f"versions-{len(texts)}"
        folder.mkdir()
        (folder / "0001_schema.py").write_text(
            FIRST.read_text("utf-8").replace("revision = HEAD", f"revision = {HEAD!r}", 1)
        )
        for number, text in enumerate(texts, 2):
            (folder / f"{number:04}_next.py").write_text(text.format(first=HEAD))
        return str(folder)

    return made


@dataclass
class Recorded:
    """The recorded installation, restored; `environment` has its settings."""

    revision: str
    erp: SmallErp
    settings: Settings
    folder: Path
    environment: dict[str, str]
    engine: sa.Engine

    @contextlib.contextmanager
    def old(self, *command: str) -> Iterator[subprocess.Popen[str]]:
        """A command of the recorded version, by the code that was recorded."""
        code = "import shelfsync, sys; from shelfsync.cli import main; print(shelfsync.__file__, flush=True); sys.exit(main())"
        with subprocess.Popen(
            [sys.executable, "-c", code, *command],
            env=self.environment | {"PYTHONPATH": str(self.folder / "code")},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """Exit code and output of such a command."""
        output, complaint = process.communicate(timeout=600)
        assert output.startswith(str(self.folder / "code")), output + complaint
        return process.returncode, output + complaint

    def run_old(self, *command: str) -> tuple[int, str]:
        with self.old(*command) as process:
            return self.ended(process)


@pytest.fixture
def recorded(empty_database_url, tmp_path, platform):
    recording = Recording.read()
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    assert recording.about["revision"] in known, "the tables changed before the first release: run make record-release"
    erp = recording.restore(tmp_path, empty_database_url, platform)
    settings = settings_of(tmp_path, empty_database_url, platform)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))}
    engine = create_engine(empty_database_url)
    yield Recorded(recording.about["revision"], erp, settings, tmp_path, clean | environment_of(settings), engine)
    engine.dispose()
    shutil.rmtree(tmp_path / "code")  # the sandbox's public secrets stand in it


_COLUMNS = sa.text(
    "SELECT table_schema || '.' || table_name AS name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS columns"
    " FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)"
    " WHERE table_schema IN ('ledger', 'inbox', 'warehouse') AND table_type = 'BASE TABLE' GROUP BY 1"
)


def columns(engine: sa.Engine) -> dict[str, str]:
    """Table -> its columns now."""
    with engine.connect() as connection:
        return {row.name: row.columns for row in connection.execute(_COLUMNS)}


def jobs(engine: sa.Engine) -> set[str]:
    """The states of all jobs of the catalog."""
    with engine.connect() as connection:
        return set(connection.exec_driver_sql("SELECT state FROM ledger.job WHERE kind = 'catalog'").scalars())


def content(engine: sa.Engine, of: dict[str, str]) -> dict[str, list[str]]:
    """Every row in these columns."""
    with engine.connect() as connection:
        return {
            name: list(connection.exec_driver_sql(f"SELECT ({some})::text FROM {name} ORDER BY 1").scalars())
            for name, some in of.items()
        }


def test_old_and_new_workers_upgrade_the_recorded_release_at_once_and_its_work_is_finished(
    recorded, migrations, platform
):
    engine = recorded.engine
    of = columns(engine)
    before = content(engine, of)
    some = ("hold", "decision", "customer_order", "picking_result", "alert")
    assert [len(before[f"ledger.{name}"]) for name in some] == [3, 2, 2, 2, 2]
    made_up = recorded.revision == HEAD
    new = (migrations(EXPANDING), "next_expand") if made_up else ("-", "-")
    workers = [Worker(recorded.environment, new, *acts) for acts in (("open", "delta"), ("open",))]
    for worker in workers:
        worker.go()
    with recorded.old("status") as status:
        newest = "next_expand" if made_up else HEAD
        assert [worker.result() for worker in workers] == [newest, newest]
        code, shown = recorded.ended(status)
    assert code == 0, shown
    assert content(engine, of) == before

    assert "open" in jobs(engine)
    code, shown = recorded.run_old("recover")
    assert code == 0, shown
    assert jobs(engine) == {"acknowledged"}, "the old version finishes the job that was open"
    recorded.erp.put("store-003", "d", "12.00")
    workers[0].go()
    code, shown = recorded.run_old("sync")
    assert code in {0, 5, 9}, shown
    assert workers[0].result() in {"succeeded", "partly"}, "each passes over what the other works on"
    for worker in workers:
        worker.end()
    with open_calls(recorded.settings) as calls:
        _finish(recorded, calls, platform)


def _finish(recorded: Recorded, calls: Calls, platform: LiveSandbox) -> None:
    """What persons and schedules do next; then the platform has what the ERP has, and nothing waits."""

    def prices(vendor: str) -> dict[str, float]:
        return {sku: float(row["price"]) for sku, row in platform.products(vendor).items()}

    def sync() -> None:
        run = calls.open_run("delta", f"new/{calls.runs(limit=1)[0]['run_id']}")
        assert calls.sync(run, dry_run=False, progress=lambda *_: None)["state"] == "succeeded"

    assert [prices(f"store-00{n}")["b"] for n in (1, 2, 3)] == [10.0, 10.0, 10.0], "held, paused, declined"
    (hold,) = calls.holds.listed("open")
    calls.holds.decide(hold["hold_id"], approve=True, who="ada", why="a new pack")
    calls.resume("vendor", "store-002", why="counted", who="ada")
    recorded.erp.put("store-003", "b", "10.00")
    sync()
    sync()
    for vendor in ("store-001", "store-002", "store-003"):
        assert prices(vendor) == {sku: float(recorded.erp.price(vendor, sku)) for sku in "abcd"}
    puts = sum(entry["operation"] == "put_promotion" for entry in platform.journal()["entries"])
    calls.promotions.sync(calls.promotions.open_run("new/campaigns"))
    assert sum(entry["operation"] == "put_promotion" for entry in platform.journal()["entries"]) == puts
    assert float(platform.products("store-001")["a"]["app"]["promotion"]["price"]) == 8.0

    with serving(config(receiver_app(recorded.settings))) as address:
        orders = OrdersWorld(calls, platform, address, recorded.folder / "stores")
        platform.put_webhook(order_url=f"{address}/webhook", secret=SECRET)
        ((waiting,),) = orders.rows("SELECT order_id FROM ledger.picking_result WHERE state = 'waiting'")
        orders.until({"order_id": waiting}, "done")
        orders.receive_events()
        orders.tick()
        assert orders.rows("SELECT count(*) FROM inbox.event WHERE kind = 'order' AND processed_at IS NULL") == [(0,)]
        handed = {document["order_id"] for document in orders.documents()}
        assert len(handed) == 2, "the two that had no document when it was recorded"
        orders.till.close()
    alert_watch.watch(calls.context)
    assert alerts.listed(calls.context) == []


def test_a_migration_that_removes_something_ends_the_old_version_with_what_to_do(recorded, migrations):
    newest = Worker(recorded.environment, (migrations(EXPANDING, CONTRACTING), "next_contract"), "open")
    assert newest.act() == "next_contract"
    between = Worker(recorded.environment, (migrations(EXPANDING), "next_expand"), "open")
    code, shown = recorded.run_old("sync")
    assert code == 3
    for complaint in (between.act(), shown):
        assert "of revision next_contract, which this version of shelfsync does not know" in complaint
    for worker in (newest, between):
        worker.end()
