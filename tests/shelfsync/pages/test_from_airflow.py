"""A tab of a DAG or of a run in Airflow leads to the page about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelfsync.pages.from_airflow import _PAGES

DAGS = {file.stem for file in (Path(__file__).parents[3] / "dags").glob("*.py")}


def test_every_dag_has_its_page():
    assert set(_PAGES) == DAGS


def _led(pages, **asked):
    return pages.get("/from-airflow", params=asked, follow_redirects=False)


@pytest.mark.parametrize("chain", ["", "__north"])
def test_a_run_leads_to_its_page_and_any_other_to_the_page_of_its_dag(world, browse, chain):
    pages, dag_id = browse(world.app), f"catalog_delta_sync{chain}"
    number = world.app.open_run("delta", key=f"{dag_id}/manual__1")
    known, unknown = (_led(pages, dag_id=dag_id, run_id=one) for one in ("manual__1", "manual__2"))
    assert (known.status_code, known.headers["location"]) == (303, f"/shelfsync/pages/runs/{number}")
    assert unknown.headers["location"] == "/shelfsync/pages/runs"
    assert _led(pages, dag_id=f"promotions_sync{chain}").headers["location"] == "/shelfsync/pages/promotions"


def test_a_dag_of_the_user_has_no_page(world, browse):
    answer = _led(browse(world.app), dag_id="my_own")
    assert answer.status_code == 404
    assert "no page about this DAG" in answer.text
