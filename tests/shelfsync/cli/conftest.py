from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands_here import commands_here
from mariadb_server import mariadb_port  # noqa: F401  a fixture

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.fixture
def process(tmp_path, database_url, sandbox):
    """Runs `shelfsync` as a process with a small ERP in a file; further settings by name."""
    stock = tmp_path / "stock.csv"
    stock.write_text("vendor,sku,price,quantity,active\nstore-001,a,1.2345,4,1\nstore-001,b,2,4,1\n", encoding="utf-8")
    sandbox.put_products("store-001", [A])
    base = {
        "SHELFSYNC_HOME": str(tmp_path / "home"),
        "SHELFSYNC_DATABASE_URL": database_url,
        "SHELFSYNC_PLATFORM__BASE_URL": sandbox.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_ERP__FILES": str(stock),
        "SHELFSYNC_SYNC__POLL_FIRST_S": "0.1",
        "SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE": "60000",
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))}

    environment = clean | base | {"PYTHONPATH": str(Path(__file__).parents[3] / "include")}

    def call(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "shelfsync", *arguments],
            env=environment | settings,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    call.environment = environment
    return call


@pytest.fixture
def here(process, tmp_path, monkeypatch, capsys):
    """The same in this process, which costs a fraction: (exit code, standard output, standard error)."""
    with commands_here(process.environment, tmp_path, monkeypatch, capsys) as call:
        yield call


@pytest.fixture
def run(here):
    """Like `process`, in this process."""

    def call(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        with pytest.MonkeyPatch.context() as environment:
            for name, value in settings.items():
                environment.setenv(name, value)
            return subprocess.CompletedProcess(arguments, *here(*arguments))

    return call
