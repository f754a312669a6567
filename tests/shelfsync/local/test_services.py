"""A variable of the user's reaches the services of a stack, or its name is reported."""

from __future__ import annotations

import os
import sys

import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.local import demo, up
from shelfsync.local.airflow_home import AirflowKeys
from shelfsync.local.services import Addresses, merged, overruled, report, services, split
from shelfsync.settings import Settings, SourceSettings

SCHEDULES = {
    "AIRFLOW__SHELFSYNC__DELTA_SCHEDULE": "* * * * *",
    "AIRFLOW__SHELFSYNC__ORDERS_SCHEDULE": "none",
    "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "3",
    "SHELFSYNC_PROMOTIONS__POLL_FIRST_S": "1",
}
REAL = {
    "SHELFSYNC_PLATFORM__CHAIN": "a-real-chain",
    "shelfsync_platform__client_secret": "canary-environment-1",
    "SHELFSYNC_CHAIN": "north",
    "SHELFSYNC_CHAINS__NORTH__PLATFORM__BASE_URL": "https://real.example",
    "SHELFSYNC_ERP": '{"sql": "SELECT 1"}',
    "SHELFSYNC_PROMOTIONS__SQL": "SELECT 1",
    "AIRFLOW_CONN_SHELFSYNC_PLATFORM": "http://real.example",
    "AIRFLOW__SECRETS__BACKEND": "package.Vault",
}


@pytest.fixture
def table() -> dict[str, dict[str, str]]:
    """Service -> the variables that the stack gives it."""
    made = services(
        Addresses(home="/h", project="/p", database_url="d", airflow_database_url="a"),
        keys=AirflowKeys("f", "j", "s"),
        webhook_secret="w",
        more={"SHELFSYNC_CONFIG": "/h/sample.toml"},
    )
    return {name: service.environment for name, service in made.items()}


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch, tmp_path):
    """Sets variables as a user does; the settings of this process, read afterwards."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("AIRFLOW", "SHELFSYNC"))]:
        monkeypatch.delenv(name)  # tests of DAGs set some for the whole session

    def export(**variables: str) -> Settings:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Settings(home=tmp_path)

    return export


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_the_sample_a_schedule_and_other_settings_of_the_user_reach_airflow(user, table, name: str) -> None:
    wanted = up.stack_options(user(**SCHEDULES))
    given = merged(wanted.environment, table["scheduler"])
    assert given[name] == SCHEDULES[name]
    assert name not in wanted.unused


def test_with_the_sample_nothing_that_leads_to_a_real_platform_or_erp_reaches_a_service_and_each_name_is_reported(
    user, table
) -> None:
    wanted = demo.demo_options(user(**REAL))
    given = merged(wanted.environment, table["scheduler"])
    assert not given.keys() & REAL.keys()
    assert set(wanted.unused) == set(REAL)
    assert "canary-environment-1" not in report(wanted.unused)


@pytest.mark.parametrize("field", sorted(SourceSettings.model_fields))
def test_every_setting_of_the_promotions_source_is_the_samples(field: str) -> None:
    name = f"SHELFSYNC_PROMOTIONS__{field.upper()}"
    assert split({name: "x"}, sample=True) == ({}, [name])


def test_a_users_own_configuration_file_is_reported_when_the_sample_runs(user, tmp_path) -> None:
    file = tmp_path / ".shelfsync" / "shelfsync.toml"
    file.parent.mkdir()
    file.write_text("[sync]\nvendors_per_shard = 3\n")
    assert str(file.name) in up.stack_options(user(SHELFSYNC_HOME=str(file.parent))).unused


def test_a_users_own_configuration_file_is_named_to_every_service(user, tmp_path) -> None:
    file = tmp_path / ".shelfsync" / "shelfsync.toml"
    file.parent.mkdir()
    file.write_text("[platform]\nbase_url = 'https://platform.example'\n")
    wanted = up.stack_options(user(SHELFSYNC_HOME=str(file.parent)), platform="platform.example")
    assert wanted.environment["SHELFSYNC_CONFIG"] == str(file)


def test_what_the_stack_sets_itself_wins_and_is_reported_by_name(user, table) -> None:
    given = {"AIRFLOW__CORE__DAGS_FOLDER": "/mine", "AIRFLOW_HOME": "/mine", "AIRFLOW__CORE__PARALLELISM": "2"}
    wanted = up.stack_options(user(**given))
    given = merged(wanted.environment, table["scheduler"])
    assert given["AIRFLOW__CORE__DAGS_FOLDER"] == "/p/dags"
    assert given["AIRFLOW__CORE__PARALLELISM"] == "2"
    assert overruled(wanted.environment, table.values()) == ["AIRFLOW_HOME", "AIRFLOW__CORE__DAGS_FOLDER"]


def test_what_the_stack_reads_beforehand_is_no_disregard(table) -> None:
    followed = {"SHELFSYNC_HOME": "relative", "SHELFSYNC_DATABASE_URL": "d2", "SHELFSYNC_WEBHOOK__PORT": "1"}
    assert overruled(followed, table.values()) == []


def test_the_demo_starts_every_sync_itself_and_reports_a_schedule_that_it_leaves_out(user) -> None:
    wanted = demo.demo_options(user(AIRFLOW__SHELFSYNC__DELTA_SCHEDULE="* * * * *"))
    assert wanted.environment["AIRFLOW__SHELFSYNC__DELTA_SCHEDULE"] == "none"
    assert wanted.unused == ["AIRFLOW__SHELFSYNC__DELTA_SCHEDULE"]


def test_orders_of_the_sample_go_to_the_stand_in_whatever_way_to_stores_the_user_has(user) -> None:
    elsewhere = {"SHELFSYNC_ORDERS__HAND_OVER": "files", "SHELFSYNC_ORDERS__HAND_OVER_URL": "/my/stores"}
    settings = user(**elsewhere)
    for wanted in (demo.demo_options(settings), up.stack_options(settings)):
        assert "store-hub" in wanted.stand_ins
        assert set(wanted.unused) == set(elsewhere)
        assert not wanted.environment.keys() & elsewhere.keys()


def test_wheels_without_the_sandbox_name_the_wheel_to_install_and_start_nothing(user, tmp_path, monkeypatch) -> None:
    settings = user(PATH=str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    for options in (demo.demo_options, up.stack_options):
        with pytest.raises(ConfigurationError, match=r"Run: pip install partner_sandbox-[0-9.a-z]+-py3-none-any\.whl"):
            options(settings)
    assert list(tmp_path.iterdir()) == []


def test_customers_can_be_switched_off(user) -> None:
    assert up.stack_options(user()).stand_ins == ("store-hub", "customers")
    assert up.stack_options(user(SHELFSYNC_LOCAL__CUSTOMER_INTERVAL_S="0")).stand_ins == ("store-hub",)


def test_a_webhook_secret_of_the_users_is_the_stacks(user) -> None:
    wanted = up.stack_options(user(SHELFSYNC_WEBHOOK__SECRET="canary-environment-2"))
    assert wanted.webhook_secret == "canary-environment-2"
    assert "canary-environment-2" not in repr(wanted)


def test_the_report_is_one_line_with_the_names_and_no_line_without_any() -> None:
    assert report([]) is None
    assert report(["B", "A"]) == "not used here, because this command sets it itself: A, B"
