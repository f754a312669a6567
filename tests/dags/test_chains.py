"""Two chains in one Airflow: the DAGs of each, and what a task and a connection know of their chain."""

from __future__ import annotations

from types import SimpleNamespace

import psycopg
import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowFailException

from shelfsync.chosen_chain import chosen, of_chain
from shelfsync.errors import ConfigurationError
from shelfsync_airflow import options
from shelfsync_airflow.app import ERP, PLATFORM, app_settings, open_app
from shelfsync_airflow.connections import overrides
from shelfsync_airflow.names import chain_of

CHAINS = ("north", "south_2")


@pytest.fixture
def chains(monkeypatch, tmp_path):
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
    for chain in CHAINS:
        monkeypatch.setenv(f"SHELFSYNC_CHAINS__{chain.upper()}__CURRENCY", "NOK")


@pytest.mark.slow
def test_each_chain_has_every_dag_with_its_own_schedule_wait_and_asset(
    chains, monkeypatch, airflow_database, dag_bag: DagBag
):
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__FULL_SCHEDULE__NORTH", "30 1 * * *")
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__DELTA_WATCH", "changes")
    found = DagBag()
    assert found.import_errors == {}
    assert set(found.dags) == {of_chain(name, chain) for name in dag_bag.dags for chain in CHAINS}
    schedules = {chain: found.dags[f"catalog_full_sync__{chain}"].timetable.expression for chain in CHAINS}
    assert schedules == {"north": "30 1 * * *", "south_2": options.OPTIONS["full_schedule"].default}
    for chain in CHAINS:
        delta = found.dags[f"catalog_delta_sync__{chain}"]
        assert {chain, "shelfsync", "catalog"} == set(delta.tags)
        assert delta.owner == chain
        wait = delta.get_task("shard.wait")
        assert wait.start_trigger_args.trigger_kwargs["chain"] == chain
        assert [one.name for one in delta.timetable.asset_condition.objects] == [f"shelfsync_erp_changes__{chain}"]


@pytest.mark.slow
def test_an_airflow_that_works_for_one_chain_has_its_dags_alone(chains, monkeypatch, airflow_database):
    monkeypatch.setenv("SHELFSYNC_CHAIN", "north")
    assert {chain_of(name) for name in DagBag().dags} == {"north"}


def test_a_chain_takes_no_connection_of_another(chains):
    asked = []

    def find(conn_id):
        asked.append(conn_id)
        wrong = {"shelfsync_platform", "shelfsync_erp", "shelfsync_platform__south_2", "shelfsync_erp__south_2"}
        return Connection(conn_id=conn_id, conn_type="sqlite", host="/wrong") if conn_id in wrong else None

    with chosen("north"):
        settings = app_settings(chain="north")
        for needed, name in ((PLATFORM, "shelfsync_platform__north"), (ERP, "shelfsync_erp__north")):
            with pytest.raises(ConfigurationError, match=f"there is no connection {name}"):
                overrides(settings, find, [needed])
    assert asked == ["shelfsync_database", "shelfsync_platform__north", "shelfsync_database", "shelfsync_erp__north"]


def test_a_task_of_a_chain_without_its_database_fails_for_good_and_creates_none(chains, monkeypatch, database_url):
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", database_url)
    task = {"dag": SimpleNamespace(dag_id="catalog_delta_sync__north")}
    monkeypatch.setattr("shelfsync_airflow.names.get_current_context", lambda: task)
    with pytest.raises(AirflowFailException, match="run `shelfsync --chain north check`, which creates it"), open_app():
        pass
    with psycopg.connect(database_url) as connection:
        known = f"SELECT 1 FROM pg_database WHERE datname = '{connection.info.dbname}_north'"
        assert connection.execute(known).fetchall() == []


@pytest.mark.parametrize("chain", [None, *CHAINS])
def test_a_name_tells_its_chain(chain):
    assert chain_of(of_chain("catalog_delta_sync", chain)) == chain


@pytest.mark.slow
def test_the_chain_that_was_alone_keeps_its_dags_so_that_a_second_one_interrupts_nothing(
    chains, monkeypatch, airflow_database, dag_bag: DagBag
):
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__WAS_ALONE", "true")
    found = DagBag()
    assert found.import_errors == {}
    assert set(found.dags) == {*dag_bag.dags, *(f"{name}__south_2" for name in dag_bag.dags)}
    assert found.dags["catalog_delta_sync"].get_task("shard.wait").start_trigger_args.trigger_kwargs["chain"] == "north"
    assert [chain_of(of_chain("catalog_delta_sync", chain)) for chain in CHAINS] == list(CHAINS)
    of_each = {chain: _promotions_asset(found, of_chain("promotions_sync", chain)) for chain in CHAINS}
    assert of_each["north"] == _promotions_asset(dag_bag, "promotions_sync") != of_each["south_2"]


def _promotions_asset(bag: DagBag, dag_id: str) -> list[tuple[str, str]]:
    return [(one.name, one.uri) for one in bag.dags[dag_id].timetable.asset_condition.objects]
