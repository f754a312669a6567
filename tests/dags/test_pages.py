"""The pages inside Airflow's real API server: no access without a login, and a viewer cannot decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from fastapi.testclient import TestClient

from airflow_world import write_dags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

VENDORS = "/shelfsync/pages/"


@pytest.fixture(scope="module")
def running(
    airflow_database: None, throwaway_database: Callable[[], AbstractContextManager[str]]
) -> Iterator[TestClient]:
    """Airflow's API server with shelfsync's plugin, which keeps its first settings, and a database of its own."""
    from airflow import plugins_manager

    plugins_manager._get_plugins.cache_clear()
    plugins_manager.get_fastapi_plugins.cache_clear()
    purge_cached_app()
    with throwaway_database() as url, pytest.MonkeyPatch.context() as environment:
        environment.setenv("SHELFSYNC_DATABASE_URL", url)
        with TestClient(create_app(apps="core"), base_url="http://airflow.test") as client:
            yield client
    purge_cached_app()


@pytest.fixture
def server(running: TestClient) -> TestClient:
    """The same for a browser that has not logged in yet."""
    running.cookies.clear()
    return running


def _token(role: str) -> str:
    user = SimpleAuthManagerUser(username=f"the-{role}", role=role)
    return get_auth_manager().generate_jwt(user)


@pytest.mark.slow
def test_a_stranger_sees_nothing(server: TestClient) -> None:
    answer = server.get(VENDORS)
    assert answer.status_code == 401
    assert "store-" not in answer.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "rights"),
    [
        ("viewer", "the-viewer (may look)"),
        ("user", "the-user (may look and decide)"),
        ("op", "the-op<"),
        ("admin", "the-admin<"),
    ],
)
def test_airflow_decides_who_may_view_who_may_decide_and_who_may_stop(
    server: TestClient, role: str, rights: str
) -> None:
    answer = server.get(VENDORS, headers={"Authorization": f"Bearer {_token(role)}"})
    assert answer.status_code == 200
    assert rights in answer.text


def _without(monkeypatch: pytest.MonkeyPatch, *, dag: str, entity: DagAccessEntity | None) -> None:
    """Takes from everybody the right to change something of one DAG; the simple auth manager gives a right for all DAGs."""
    manager = get_auth_manager()
    all_dags = manager.is_authorized_dag

    def is_authorized_dag(**asked: Any) -> bool:
        changes = asked["method"] != "GET" and asked["details"].id == dag
        return not (changes and asked.get("access_entity") == entity) and all_dags(**asked)

    monkeypatch.setattr(manager, "is_authorized_dag", is_authorized_dag)


def _sent(server: TestClient, path: str, **form: str) -> int:
    headers = {"Authorization": f"Bearer {_token('admin')}", "Sec-Fetch-Site": "same-origin"}
    return server.post(f"{VENDORS}{path}", data=form, headers=headers).status_code


@pytest.mark.slow
def test_who_may_not_edit_a_chains_dags_may_not_stop_it_although_pools_belong_to_no_chain(
    server: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _sent(server, "switches/pause") == 400
    _without(monkeypatch, dag="catalog_delta_sync", entity=None)
    assert _sent(server, "switches/pause") == 403
    assert _sent(server, "holds/999/decline") == 404


@pytest.mark.slow
def test_who_may_not_start_runs_in_airflow_may_not_start_them_on_a_page(
    server: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _sent(server, "store/sync") == 404
    _without(monkeypatch, dag="catalog_delta_sync", entity=DagAccessEntity.RUN)
    assert _sent(server, "store/sync") == 403
    assert _sent(server, "holds/999/decline") == 404


@pytest.mark.slow
def test_the_cookie_of_airflows_own_pages_is_enough(server: TestClient) -> None:
    server.cookies.set("_token", _token("admin"))
    assert server.get(VENDORS).status_code == 200


@pytest.mark.slow
def test_the_navigation_leads_there(server: TestClient) -> None:
    answer = server.get("/api/v2/plugins", headers={"Authorization": f"Bearer {_token('admin')}"})
    (ours,) = [plugin for plugin in answer.json()["plugins"] if plugin["name"] == "shelfsync"]
    assert {view["destination"]: view["href"] for view in ours["external_views"]} == {
        "nav": VENDORS.lstrip("/"),
        "dag": f"{VENDORS.lstrip('/')}from-airflow?dag_id={{DAG_ID}}",
        "dag_run": f"{VENDORS.lstrip('/')}from-airflow?dag_id={{DAG_ID}}&run_id={{RUN_ID}}",
    }


@pytest.mark.slow
def test_a_page_names_those_of_its_dags_that_airflow_has_paused(server: TestClient) -> None:
    """From Airflow's own database: one DAG is paused, one runs, one is removed."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    headers = {"Authorization": f"Bearer {_token('viewer')}"}
    DagBundlesManager().sync_bundles_to_db()
    states = {
        "catalog_full_sync": (True, False),
        "catalog_delta_sync": (False, False),
        "catalog_recover": (False, True),
    }
    with create_session() as session:
        before = {
            row.dag_id: (row.is_paused, row.is_stale)
            for row in session.query(DagModel).filter(DagModel.dag_id.in_(states))
        }
        for dag_id, (is_paused, is_stale) in states.items():
            row = session.get(DagModel, dag_id) or DagModel(dag_id=dag_id, bundle_name="dags-folder")
            row.is_paused, row.is_stale = is_paused, is_stale
            session.add(row)
    try:
        text = server.get(VENDORS, headers=headers).text
    finally:
        with create_session() as session:  # as it was: what runs have come of other tests keeps its DAG
            for row in session.query(DagModel).filter(DagModel.dag_id.in_(states)):
                if row.dag_id in before:
                    row.is_paused, row.is_stale = before[row.dag_id]
                else:
                    session.delete(row)
    assert "DAG catalog_full_sync is switched off: " in text
    assert "DAG catalog_delta_sync is" not in text
    assert "DAG catalog_recover is not known to Airflow: " in text


def test_a_run_of_one_store_is_queued_as_by_the_button_of_airflow(server: TestClient) -> None:
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session

    from shelfsync_airflow.page_rights import start_run

    write_dags()
    start_run("catalog_delta_sync", {"vendors": ["store-001"]}, "the-op")
    with create_session() as session:
        queued = session.query(DagRun).filter(DagRun.triggering_user_name == "the-op").one()
        found = queued.dag_id, queued.conf, str(queued.state), str(queued.run_type)
        session.delete(queued)
    assert found == ("catalog_delta_sync", {"vendors": ["store-001"]}, "queued", "manual")
