"""An operator changes schedules in Airflow's configuration, without touching a DAG."""

from __future__ import annotations

import pytest

from shelfsync_airflow import schedules


def test_the_schedules_are_daily_every_quarter_of_an_hour_and_every_five_minutes() -> None:
    assert [schedules.schedule(kind) for kind in ("full", "delta", "recover")] == [
        "7 3 * * *",
        "*/15 * * * *",
        "*/5 * * * *",
    ]


def test_a_schedule_is_changed_by_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__DELTA_SCHEDULE", "*/5 6-22 * * *")
    assert schedules.schedule("delta") == "*/5 6-22 * * *"


@pytest.mark.parametrize("text", ["none", "", "Never"])
def test_a_schedule_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__FULL_SCHEDULE", text)
    assert schedules.schedule("full") is None
