"""Which DAGs `make up` switches on, and which stay as they are."""

from __future__ import annotations

from dataclasses import replace

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


def test_the_first_start_switches_every_dag_on() -> None:
    plan = switches.plan([FULL, DELTA], earlier=None, paused=())
    assert plan.on == ["catalog_full_sync", "catalog_delta_sync"]
    assert plan.off == []


def test_a_dag_that_a_setting_names_stays_paused_and_is_paused_when_it_runs() -> None:
    named = ("catalog_delta_sync", "orders_history")
    first = switches.plan([FULL, DELTA, MINE], earlier=None, paused=named)
    assert first.on == ["catalog_full_sync"]
    assert first.off == ["orders_history"]
    later = switches.plan([FULL, DELTA, MINE], earlier=frozenset(), paused=named)
    assert (later.on, later.off) == ([], ["orders_history"])


def test_a_dag_that_a_person_paused_stays_paused_even_if_no_start_saw_it_before() -> None:
    """Of a chain that was added since, switched on by a person, and off again."""
    of_north = Dag("catalog_full_sync__north", "catalog_full_sync.py", is_paused=True)
    assert switches.plan([FULL, DELTA, of_north], earlier=frozenset(), paused=()).on == []


def test_a_dag_that_only_the_setting_paused_is_switched_on_again_without_it() -> None:
    running = replace(DELTA, is_paused=False)
    for dag, earlier in ((DELTA, None), (running, None), (running, frozenset())):
        off = switches.plan([dag], earlier=earlier, paused=("catalog_delta_sync",))
        again = switches.plan([DELTA], earlier=off.by_setting, paused=("catalog_delta_sync",))
        without = switches.plan([DELTA], earlier=again.by_setting, paused=())
        assert without.on == ["catalog_delta_sync"]
        assert without.by_setting == frozenset()


def test_a_dag_that_a_person_paused_before_the_setting_named_it_stays_paused_without_it() -> None:
    off = switches.plan([DELTA], earlier=frozenset(), paused=("catalog_delta_sync",))
    assert switches.plan([DELTA], earlier=off.by_setting, paused=()).on == []


def test_a_setting_that_names_no_dag_is_one_line_with_the_names_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_LOCAL__PAUSED_DAGS.*catalog_dleta.*catalog_full_sync"):
        switches.plan([FULL], earlier=None, paused=("catalog_dleta",))


def test_the_dags_of_a_removed_chain_are_none_of_this_installation() -> None:
    north = Dag("catalog_full_sync__north", "catalog_full_sync.py", is_paused=False)
    south = Dag("catalog_full_sync__south", "catalog_full_sync.py", is_paused=False)
    dags = [FULL, north, south]
    assert switches.of_chains(dags, (), None) == [FULL]
    assert switches.of_chains(dags, ("demo", "north"), "demo") == [FULL, north]
    assert switches.of_chains(dags, ("north", "south"), None) == [north, south]


def test_a_start_remembers_what_the_setting_paused_and_that_it_was_there(tmp_path) -> None:
    marker = tmp_path / "switched-on"
    assert switches.read(marker) is None
    switches.write(marker, {"b", "a"})
    assert switches.read(marker) == {"a", "b"}
    marker.write_text('["catalog_full_sync"]')  # as it was: the DAGs that had been switched on
    assert switches.read(marker) == frozenset()


def test_the_files_that_airflow_has_to_parse_are_those_of_the_folder() -> None:
    files = switches.dag_files(PROJECT / "dags")
    assert files == {file.name for file in (PROJECT / "dags").glob("*.py")}
    assert switches.missing(files, [FULL, DELTA]) == sorted(files - {FULL.file, DELTA.file})
