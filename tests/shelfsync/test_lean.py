"""What a task loads: nothing that it does not use, because every task of every run begins by loading it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

INCLUDE = Path(__file__).parents[2] / "include"
UNUSED = {"pandas", "duckdb", "polars", "fastapi", "uvicorn", "airflow", "alembic", "IPython", "matplotlib"}

THE_PATH_OF_A_VENDOR = r"""
import importlib, io, json, pkgutil, sys
from decimal import Decimal
from pathlib import Path
import shelfsync.catalog.steps, shelfsync.app
for module in pkgutil.walk_packages(shelfsync.catalog.steps.__path__, "shelfsync.catalog.steps."):
    importlib.import_module(module.name)
from shelfsync.catalog import baseline, bodies, delta, log_reader, outcome, snapshot
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.case import Case
from shelfsync.schemas import BASELINE
from shelfsync.erp.open import open_source
from shelfsync.vendors.partition import Partition
from shelfsync.store.lake import Lake
from shelfsync.settings import ErpSettings, GuardSettings, NormaliseSettings
folder = Path(sys.argv[1])
rows = "\n".join(f"store-001,{sku},9.99,5,true" for sku in "abc")
(folder / "erp.csv").write_text("vendor,sku,price,quantity,active\n" + rows + "\n")
lake = Lake(str(folder / "lake"))
with Partition(lake) as partition, open_source(ErpSettings(files=str(folder / "erp.csv"))).read() as extract:
    for chunk in extract:
        partition.add(chunk)
    ((path, _),) = partition.finish().values()
normalised = snapshot.make_snapshot(lake.read_table(path), NormaliseSettings())
changes = delta.compute_delta(normalised.snapshot, BASELINE.empty_table(), full=True)
case = Case("store-001", changes, normalised.snapshot, BASELINE.empty_table(), extract_rows=3, limits=GuardSettings())
released = apply_guards(case).released
(one,) = bodies.cut(released, key="sku", sales_limit_name="maximum_sales_quantity", body_max_bytes=10_000)
log = io.BytesIO(b"sku,state,errors\n" + b"".join(sku.encode() + b",success,\n" for sku in "abc"))
outcomes = outcome.match(one.items, log_reader.parse_log(log, whole=True))
lake.write_table("baseline", "store-001", baseline.with_accepted(BASELINE.empty_table(), one.items, outcomes))
print(json.dumps({"body": bytes(one.body).decode(), "modules": sorted(sys.modules)}))
"""

A_CONTEXT = r"""
import sys
from pydantic import SecretStr
from shelfsync.app import open_app
from shelfsync.settings import Settings
home, url = sys.argv[1:]
with open_app(Settings(home=home, database_url=SecretStr(url))) as context:
    assert context.engine.pool.checkedin() == 1, context.engine.pool.status()
assert "alembic" not in sys.modules
"""


def child(program: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(INCLUDE)}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A fresh process that takes one small vendor from a CSV to a new baseline."""
    return json.loads(child(THE_PATH_OF_A_VENDOR, str(tmp_path_factory.mktemp("lean"))))


def test_a_whole_path_loads_nothing_that_it_does_not_use(path):
    assert path["body"].startswith('{"products":[{"sku":"a","price":9.99,"quantity":5,"active":true}')
    assert {module.split(".")[0] for module in path["modules"]} & UNUSED == set()


def test_a_context_over_a_database_of_this_version_takes_one_connection_and_no_migration_tool(tmp_path, database_url):
    child(A_CONTEXT, str(tmp_path), database_url)


@pytest.mark.parametrize(
    "module",
    ["promotions.steps.status", "promotions.ledger.promotions", "catalog.whose_turn", "catalog.rejection_kind"],
)
def test_what_only_reads_the_ledger_loads_no_arrow(module):
    code = f"import sys, shelfsync.{module}; assert not {{'pyarrow', 'numpy'}} & {{*sys.modules}}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(INCLUDE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
