"""Two chains that would send to the same stores are refused; two that share a chain of the platform by stores are not."""

from __future__ import annotations

import os

import pytest

from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError
from shelfsync.settings import read_settings
from shelfsync.settings.twin_chains import refuse_twin

SHARED = {"PLATFORM__BASE_URL": "https://platform.example"}
NORTH = {"CHAINS__NORTH__PLATFORM__CHAIN": "p-1"}


@pytest.fixture
def refused(monkeypatch, tmp_path):
    """Whether the chain north is refused with these settings."""

    def refused(given: dict[str, str]) -> str | None:
        for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
        for name, value in (SHARED | NORTH | given).items():
            monkeypatch.setenv(f"SHELFSYNC_{name}", value)
        with chosen("north"):
            settings = read_settings()
            try:
                refuse_twin(settings)
            except ConfigurationError as error:
                return str(error)
        return None

    return refused


@pytest.mark.parametrize(
    "given",
    [
        {"CHAINS__SOUTH__PLATFORM__CHAIN": "p-1"},
        {"CHAINS__SOUTH__PLATFORM__CHAIN": "p-1", "CHAINS__SOUTH__PLATFORM__BASE_URL": "https://Platform.example/"},
        {"CHAINS__SOUTH__PLATFORM__CHAIN": "p-1", "CHAINS__SOUTH__SYNC__VENDORS": "s-1"},
        {
            "CHAINS__SOUTH__PLATFORM__CHAIN": "p-1",
            "CHAINS__SOUTH__SYNC__VENDORS": "s-1,s-2",
            "CHAINS__NORTH__SYNC__VENDORS": "s-2",
        },
    ],
)
def test_a_chain_with_the_stores_of_another_is_refused(refused, given):
    error = refused(given)
    assert error is not None
    assert "the chains north and south are both p-1 at the platform" in error


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"CHAINS__SOUTH__PLATFORM__CHAIN": "p-2"},
        {"CHAINS__SOUTH__PLATFORM__CHAIN": "p-1", "CHAINS__SOUTH__PLATFORM__BASE_URL": "https://other.example"},
        {
            "CHAINS__SOUTH__PLATFORM__CHAIN": "p-1",
            "CHAINS__SOUTH__SYNC__VENDORS": "s-1",
            "CHAINS__NORTH__SYNC__VENDORS": "n-1",
        },
        {"CHAINS__SOUTH__PLATFORM__CHAIN": "p-1", "CHAINS__SOUTH__CURRENCY": "no code"},
    ],
)
def test_a_chain_with_stores_of_its_own_is_not(refused, given):
    assert refused(given) is None
