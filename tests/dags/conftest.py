"""An Airflow of this test session alone: its home, database and keys are set before anything imports Airflow.

Whatever Airflow's and shelfsync's variables the caller's shell holds is dropped: a test must not read a user's real connections.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from airflow_world import BUNDLE, PROJECT, World, write_dags
from memory_folder import throwaway_root
from sandbox_fixture import LiveSandbox
from small_erp import SmallErp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow.dag_processing.dagbag import DagBag

if "airflow" in sys.modules:
    raise RuntimeError(
        "airflow was imported before tests/dags/conftest.py could give it a home of its own; find the import above tests/dags."
    )

for name in [name for name in os.environ if name.startswith(("AIRFLOW", "_AIRFLOW", "SHELFSYNC"))]:
    del os.environ[name]

HOME = Path(tempfile.mkdtemp(prefix="shelfsync-airflow-", dir=throwaway_root()))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
(HOME / "bundle").mkdir()
BUNDLES = [
    {
        "name": BUNDLE,
        "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle",
        "kwargs": {"path": str(HOME / "bundle")},
    }
]
"""Empty: `write_dags` writes the DAGs."""
os.environ |= {
    "AIRFLOW_HOME": str(HOME),
    "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
    "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(BUNDLES),
    "AIRFLOW__CORE__PLUGINS_FOLDER": str(PROJECT / "plugins"),
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "AIRFLOW__CORE__FERNET_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(64),
    "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{HOME / 'airflow.db'}",
    "AIRFLOW__SHELFSYNC__RETRIES": "0",  # dag.test() would sleep through the pause before a retry
}


@pytest.fixture(scope="session")
def airflow_database() -> None:
    """Airflow's own tables, for what runs a DAG."""
    from airflow.utils.db import initdb

    initdb()


@pytest.fixture(scope="session")
def dag_bag(airflow_database: None) -> DagBag:
    """The project's DAGs as the dag processor finds them."""
    from airflow.dag_processing.dagbag import DagBag

    return DagBag()


@pytest.fixture(scope="session")
def shared_platform() -> Iterator[LiveSandbox]:
    with LiveSandbox() as live:
        yield live


@pytest.fixture
def world(
    airflow_database: None,
    shared_platform: LiveSandbox,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    """A furnished world of this test alone, with its settings in the environment."""
    shared_platform.reset()
    world = World(SmallErp(tmp_path / "erp.sqlite"), shared_platform, database_url)
    world.furnish()
    write_dags()
    for name, value in world.settings(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)  # no shelfsync.toml of anybody's
    return world
