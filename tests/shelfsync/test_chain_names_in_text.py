"""A text names the variables, DAGs and connections of the chain that it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelfsync import chain_names_in_text
from shelfsync.chain_names_in_text import own_names
from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError, DataError

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "of_north"),
    [
        ("Set SHELFSYNC_ERP__COLUMNS.", "Set SHELFSYNC_CHAINS__NORTH__ERP__COLUMNS."),
        (
            "SHELFSYNC_PLATFORM__CLIENT_ID / SHELFSYNC_PLATFORM__CLIENT_SECRET",
            "SHELFSYNC_CHAINS__NORTH__PLATFORM__CLIENT_ID / SHELFSYNC_CHAINS__NORTH__PLATFORM__CLIENT_SECRET",
        ),
        ("SHELFSYNC_SYNC__VENDORS", "SHELFSYNC_CHAINS__NORTH__SYNC__VENDORS"),
        (
            "catalog_delta_sync and catalog_full_sync are on",
            "catalog_delta_sync__north and catalog_full_sync__north are on",
        ),
        ("(or the connection shelfsync_platform)", "(or the connection shelfsync_platform__north)"),
        ("next: shelfsync sync --full", "next: shelfsync --chain north sync --full"),
        ("Run `shelfsync check` again.", "Run `shelfsync --chain north check` again."),
    ],
)
def test_what_is_a_chains_own_is_named_so(text, of_north):
    assert own_names(text, "north") == of_north
    assert own_names(of_north, "north") == of_north
    assert own_names(text, None) == text


@pytest.mark.parametrize(
    "text",
    [
        "SHELFSYNC_PLATFORM__BASE_URL",
        "SHELFSYNC_ALERTS__ROUTES",
        "SHELFSYNC_SYNC__DELTA_INTERVAL_S",
        "SHELFSYNC_CHAINS__SOUTH__ERP__URL",
        "docs/reference/dags.md#catalog_full_sync",
        "housekeeping",
        "what shelfsync sends",
        "`shelfsync chains list` shows both",
        "the connection shelfsync_database",
    ],
)
def test_what_all_chains_share_keeps_its_name(text):
    assert own_names(text, "north") == text


def test_the_chain_that_was_alone_keeps_the_names_of_its_dags_and_connections(monkeypatch):
    monkeypatch.setenv("SHELFSYNC_CHAINS__DEMO__WAS_ALONE", "true")
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__CURRENCY", "NOK")
    text = "catalog_delta_sync is off; shelfsync_erp has no host"
    assert own_names(text, "demo") == text
    assert own_names(text, "north") == "catalog_delta_sync__north is off; shelfsync_erp__north has no host"
    assert own_names("Set SHELFSYNC_ERP__URL.", "demo") == "Set SHELFSYNC_CHAINS__DEMO__ERP__URL."


def test_an_error_names_the_setting_of_the_chain_for_which_it_was_made():
    with chosen("north"):
        error = ConfigurationError("SHELFSYNC_ERP__URL", "it is not set", "Set SHELFSYNC_ERP__FILES or this.")
        data = DataError("see SHELFSYNC_ERP__COLUMNS")
    assert str(error) == (
        "SHELFSYNC_CHAINS__NORTH__ERP__URL: it is not set. Set SHELFSYNC_CHAINS__NORTH__ERP__FILES or this."
    )
    assert error.setting == "SHELFSYNC_ERP__URL"
    assert str(data) == "see SHELFSYNC_CHAINS__NORTH__ERP__COLUMNS"
    assert str(ConfigurationError("SHELFSYNC_ERP__URL", "it is not set", "Set it.")).startswith("SHELFSYNC_ERP__URL:")


def test_every_name_of_a_dag_is_known():
    dags = {file.stem for file in (PROJECT / "dags").glob("*.py")}
    assert set(chain_names_in_text._DAGS) == dags - {"housekeeping"}  # which is a word of its own
