"""An operator changes retries and owner in Airflow's configuration, without touching a DAG."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from shelfsync_airflow import options

if TYPE_CHECKING:
    import pytest


def test_retries_and_owner_are_changed_by_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__RETRIES", "5")
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__RETRY_DELAY_S", "90.5")
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__OWNER_LINK", "mailto:catalog@example.com")
    assert options.retries() == 5
    assert options.retry_delay() == dt.timedelta(seconds=90.5)
    assert options.owner_links() == {"shelfsync": "mailto:catalog@example.com"}


def test_without_a_link_the_owner_leads_nowhere() -> None:
    assert options.owner_links() == {}
