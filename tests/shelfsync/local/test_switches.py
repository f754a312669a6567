"""Which DAGs `make up` switches on, and which stay as they are."""

from __future__ import annotations

import json

import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.local import switches
from shelfsync.local.airflow_api import Dag
from shelfsync.settings_file import PROJECT

FULL, DELTA, MINE = (
    Dag("catalog_full_sync", "catalog_full_sync.py", is_paused=True),
    Dag("catalog_delta_sync", "catalog_delta_sync.py", is_paused=True),
    Dag("orders_history", "orders_history.py", is_paused=False),
)


def test_a_new_installation_has_every_dag_switched_on() -> None:
    plan = switches.plan([FULL, DELTA], known=frozenset(), paused=())
    assert plan.on == ["catalog_full_sync", "catalog_delta_sync"]
    assert plan.off == []


def test_a_dag_that_a_setting_names_stays_paused_and_is_paused_when_it_runs() -> None:
    plan = switches.plan(
        [FULL, DELTA, MINE], known=frozenset({"orders_history"}), paused=("catalog_delta_sync", "orders_history")
    )
    assert plan.on == ["catalog_full_sync"]
    assert plan.off == ["orders_history"]
    assert plan.known == {"catalog_full_sync"}


def test_a_dag_that_was_on_and_that_a_person_paused_stays_paused() -> None:
    plan = switches.plan([FULL, DELTA], known=frozenset({"catalog_delta_sync"}), paused=())
    assert plan.on == ["catalog_full_sync"]


def test_a_dag_whose_setting_was_taken_away_is_switched_on_again() -> None:
    off = switches.plan([DELTA], known=frozenset({"catalog_delta_sync"}), paused=("catalog_delta_sync",))
    assert switches.plan([DELTA], known=off.known, paused=()).on == ["catalog_delta_sync"]


def test_a_setting_that_names_no_dag_is_one_line_with_the_names_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_LOCAL__PAUSED_DAGS.*catalog_dleta.*catalog_full_sync"):
        switches.plan([FULL], known=frozenset(), paused=("catalog_dleta",))


def test_what_was_switched_on_before_is_known(tmp_path) -> None:
    marker = tmp_path / "switched-on"
    assert switches.read(marker) == frozenset()
    switches.write(marker, {"b", "a"})
    assert json.loads(marker.read_text()) == ["a", "b"]
    assert switches.read(marker) == {"a", "b"}


def test_the_files_that_airflow_has_to_parse_are_those_of_the_folder() -> None:
    files = switches.dag_files(PROJECT / "dags")
    assert files == {file.name for file in (PROJECT / "dags").glob("*.py")}
    assert switches.missing(files, [FULL, DELTA]) == sorted(files - {FULL.file, DELTA.file})
