"""An operator changes schedules and retries in Airflow's configuration, without touching a DAG."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync_airflow import options


def test_the_schedules_are_daily_every_quarter_of_an_hour_and_every_five_minutes() -> None:
    assert [options.schedule(kind) for kind in ("full", "delta", "recover")] == [
        "7 3 * * *",
        "*/15 * * * *",
        "*/5 * * * *",
    ]


def test_a_schedule_is_changed_by_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__DELTA_SCHEDULE", "*/5 6-22 * * *")
    assert options.schedule("delta") == "*/5 6-22 * * *"


@pytest.mark.parametrize("text", ["none", "", "Never"])
def test_a_schedule_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__FULL_SCHEDULE", text)
    assert options.schedule("full") is None


def test_retries_and_owner_are_changed_by_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__RETRIES", "5")
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__RETRY_DELAY_S", "90.5")
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__OWNER_LINK", "mailto:catalog@example.com")
    assert options.retries() == 5
    assert options.retry_delay() == dt.timedelta(seconds=90.5)
    assert options.owner_links() == {"shelfsync": "mailto:catalog@example.com"}


def test_without_a_link_the_owner_leads_nowhere() -> None:
    assert options.owner_links() == {}
