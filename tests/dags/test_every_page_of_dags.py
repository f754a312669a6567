"""What `make up` asks Airflow's real API: it gives at most a hundred rows an answer, and no row is left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import uvicorn
from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app

from airflow_world import BUNDLE
from serving import serving
from shelfsync.local import airflow_home
from shelfsync.local.airflow_api import AirflowApi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAGS = 230
FILE = f"""
from airflow.sdk import DAG

for number in range({DAGS}):
    with DAG(f"one_of_many_{{number:03}}", schedule=None, tags=["many"]):
        pass
"""


@pytest.fixture
def airflow(airflow_database: None, tmp_path: Path) -> Iterator[AirflowApi]:
    """A session with Airflow's API server, in whose database are many DAGs."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import BundleDagBag, sync_bag_to_db

    (tmp_path / "many.py").write_text(FILE, "utf-8")
    bag = BundleDagBag(dag_folder=tmp_path, bundle_path=tmp_path, bundle_name=BUNDLE)
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(bag, BUNDLE, None)
    purge_cached_app()
    with serving(uvicorn.Config(create_app(apps="core"), log_level="warning")) as address:
        password = get_auth_manager().get_passwords()[airflow_home.USER]
        stack = SimpleNamespace(addresses=SimpleNamespace(api_url=address), admin_password=password)
        with AirflowApi(stack) as session:  # type: ignore[arg-type]
            yield session
    purge_cached_app()


@pytest.mark.slow
def test_every_dag_of_many_chains_is_found(airflow: AirflowApi) -> None:
    found = airflow.dags("many")
    assert [dag.dag_id for dag in found] == [f"one_of_many_{number:03}" for number in range(DAGS)]
    assert {dag.file for dag in found} == {"many.py"}
