"""Each page names the DAGs that feed it, and has a note while one of them does not run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from fastapi.testclient import TestClient

from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.pages import app as pages
from shelfsync.pages import dag_switched_off
from shelfsync.pages.rights import Viewer

DAGS = {file.stem for file in (Path(__file__).parents[3] / "dags").glob("*.py")}
PATHS = {page.path: page.dags for page in pages.PAGES}


def guard(request: Request) -> None:
    request.state.viewer = Viewer("ada", may_decide=True, may_start=True)


@pytest.fixture
def browse(world):
    """`browse(catalog_recover=True)`: the pages while these DAGs are paused, or unknown for None; the others run. `chain`: whose pages."""
    alert_watch.watch(world.app.context)  # without a look the page of the alerts has a note of its own

    def made(chain=None, **paused):
        known = dict.fromkeys(DAGS, False) | paused
        states = {dag_id: is_paused for dag_id, is_paused in known.items() if is_paused is not None}
        return TestClient(
            pages.create_app(
                lambda: world.app.context,
                guard,
                lambda dag_ids: {name: states[name] for name in dag_ids if name in states},
                chain=chain,
            )
        )

    return made


def test_every_dag_feeds_a_page_and_has_its_words():
    assert {name for dags in PATHS.values() for name in dags} == DAGS
    assert set(dag_switched_off.MISSING) == DAGS


@pytest.mark.slow
def test_a_page_whose_dags_run_names_them_and_notes_nothing(browse):
    client = browse()
    for path, dags in PATHS.items():
        text = client.get(path).text
        assert 'role="note"' not in text, path
        assert all(name in text for name in dags), path
        assert ("Fed by" in text) is bool(dags), path


@pytest.mark.slow
def test_a_page_reports_a_paused_dag_of_its_own_and_how_to_switch_it_on(browse):
    for dag_id in DAGS:
        client = browse(**{dag_id: True})
        for path, dags in PATHS.items():
            text = client.get(path).text
            assert text.count('role="note"') == (dag_id in dags), (path, dag_id)
            assert (f"DAG {dag_id} is switched off: " in text) is (dag_id in dags)
            assert (f"airflow dags unpause {dag_id}" in text) is (dag_id in dags)


def test_a_dag_that_airflow_does_not_know_is_distinguished_from_a_paused_one(browse):
    text = browse(promotions_sync=None).get("/promotions").text
    assert "DAG promotions_sync is not known to Airflow: " in text
    assert "airflow dags list-import-errors" in text
    assert "switched off" not in text


def test_the_pages_of_a_chain_name_its_own_dags(browse):
    client = browse(chain="north", housekeeping=True, catalog_recover=None)
    text = client.get("/").text
    assert "Fed by the DAGs " in text
    assert "DAG housekeeping__north is switched off: " in text
    assert "<code>airflow dags unpause housekeeping__north</code>" in text
    assert "DAG catalog_recover__north is not known to Airflow: " in text
    assert {name for name in DAGS if re.search(rf"\b{name}\b(?!__north)", text)} == set()


def test_a_refused_start_of_a_run_names_the_dag_of_the_chain(world):
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    app = pages.create_app(
        lambda: world.app.context,
        guard,
        lambda dag_ids: dict.fromkeys(dag_ids, True),
        start_run=lambda *_: None,
        chain="north",
    )
    page = TestClient(app, headers={"sec-fetch-site": "same-origin"}).post("/store/sync", data={"vendor": "store-001"})
    assert page.status_code == 409
    assert "DAG catalog_delta_sync__north is switched off: " in page.text
