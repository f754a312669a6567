"""Workers of two versions on one database with work under way: real processes, and a made-up next version with further migrations.

The database is filled by a real run. What a migration of the next release does to it is tried before there is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from shelfsync.migrations.upgrade import HEAD
from shelfsync.warehouse.every_table import metadata

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
    """A process of one version; it acts when it is told to."""

    def __init__(self, settings: Path, version: tuple[str, str], *acts: str) -> None:
        tree = ("include", "tests/support", "sandbox/src", "sandbox/tests/support")
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/support/worker_of_version.py"), str(settings), *version, *acts],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in tree)},
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


@pytest.fixture
def under_way(shop, tmp_path):
    """A shop with an open job, a hold, a decision, a pause, a campaign and an alert; and its settings in a file."""
    world = shop.world
    shop.erp.put("spring", "a", "8.00")
    assert shop.sync()["state"] == "succeeded"
    world.erp.put("store-001", "a", "1000.00")
    world.erp.put("store-002", "b", "2000.00")
    world.sync()
    world.app.holds.decide(world.app.holds.listed("open")[0]["hold_id"], approve=False, who="ada", why="a slip")
    world.app.pause("vendor", "store-002", why="stocktaking", who="ada")
    world.erp.put("store-003", "c", "11.00")
    world.begin(upto="deliver")
    settings = world.settings
    file = tmp_path / "settings.json"
    text = settings.model_dump(mode="json", exclude_unset=True)
    text["database_url"] = settings.database_url.get_secret_value()
    text["platform"]["client_secret"] = settings.platform.client_secret.get_secret_value()
    text["erp"]["url"] = settings.erp.url.get_secret_value()
    file.write_text(json.dumps(text))
    file.chmod(0o600)
    yield shop, file
    file.unlink()  # it holds secrets


def content(engine: sa.Engine) -> dict[str, list[str]]:
    """Every row of ledger and warehouse in the columns that this version knows."""
    with engine.connect() as connection:
        found = {}
        for table in metadata.sorted_tables:
            if table.schema in {"ledger", "warehouse"}:
                columns = ", ".join(f'"{column.name}"' for column in table.columns)
                rows = connection.exec_driver_sql(f"SELECT ({columns})::text FROM {table.fullname} ORDER BY 1")
                found[table.fullname] = list(rows.scalars())
        return found


def test_workers_of_two_versions_upgrade_at_once_and_the_work_under_way_is_finished(under_way, migrations):
    shop, settings = under_way
    engine = shop.world.app.context.engine
    before = content(engine)
    assert {len(before[name]) for name in ("ledger.hold", "ledger.decision", "ledger.switch")} == {1, 2}
    new = (migrations(EXPANDING), "next_expand")
    workers = [
        Worker(settings, new, "open", "delta"),
        Worker(settings, new, "open"),
        Worker(settings, ("-", "-"), "open", "recover", "delta"),
    ]
    for worker in workers:
        worker.go()
    assert [worker.result() for worker in workers[:2]] == ["next_expand", "next_expand"]
    assert workers[2].result() in {HEAD, "next_expand"}
    assert content(engine) == before
    with engine.connect() as connection:
        assert {*connection.execute(sa.text("SELECT colour FROM ledger.vendor")).scalars()} == {"green"}

    old = workers[2]
    assert old.act() == "0", "the old version finishes the job that was open"
    assert float(shop.world.shown("store-003")["c"]["price"]) == 11.0
    shop.world.erp.put("store-003", "d", "12.00")
    workers[0].go()
    old.go()
    assert {workers[0].result(), old.result()} <= {"succeeded", "partly"}, "each passes over what the other works on"
    shop.world.sync()
    assert float(shop.world.shown("store-003")["d"]["price"]) == 12.0
    assert float(shop.world.shown("store-001")["a"]["price"]) == 10.0, "held"
    for worker in workers:
        worker.end()


def test_a_migration_that_removes_something_ends_the_old_version_with_what_to_do(under_way, migrations):
    _, settings = under_way
    newest = Worker(settings, (migrations(EXPANDING, CONTRACTING), "next_contract"), "open")
    assert newest.act() == "next_contract"
    between = Worker(settings, (migrations(EXPANDING), "next_expand"), "open")
    old = Worker(settings, ("-", "-"), "open")
    for worker in (between, old):
        assert "of revision next_contract, which this version of shelfsync does not know" in worker.act()
    for worker in (newest, between, old):
        worker.end()
