"""The environment goes before the file, the file before the default, and a chain's own before what all share."""

from __future__ import annotations

import pytest

from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError
from shelfsync.settings import Settings, read_settings
from shelfsync.settings.precedence import given_by


def test_what_the_file_sets_is_corrected_there_and_what_the_environment_sets_here(monkeypatch, tmp_path):
    file = tmp_path / "shelfsync.toml"
    file.write_text("[sync]\nvendors_per_shard = 'many'\n", encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    with pytest.raises(ConfigurationError) as caught:
        read_settings()
    assert caught.value.remedy == f"Correct it in {file}."
    monkeypatch.setenv("SHELFSYNC_SYNC__VENDORS_PER_SHARD", "some")
    with pytest.raises(ConfigurationError) as caught:
        read_settings()
    assert caught.value.remedy == "Correct it in the environment."


def test_a_configuration_file_is_read_below_the_environment(monkeypatch, tmp_path):
    file = tmp_path / "shelfsync.toml"
    file.write_text('[platform]\nchain = "from-file"\nbase_url = "https://from.file"\n', encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CHAIN", "from-environment")
    settings = read_settings()
    assert (settings.platform.chain, settings.platform.base_url) == ("from-environment", "https://from.file")


def test_what_is_given_for_a_chain_goes_before_what_all_share_wherever_it_is_given(monkeypatch, tmp_path):
    file = tmp_path / "shelfsync.toml"
    file.write_text('currency = "EUR"\n[chains.north]\ncurrency = "NOK"\n[chains.south]\n', encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))

    def currencies():
        found = []
        for chain in ("north", "south"):
            with chosen(chain):
                found.append(read_settings().currency)
        return found

    assert currencies() == ["NOK", "EUR"]
    monkeypatch.setenv("SHELFSYNC_CURRENCY", "USD")
    assert currencies() == ["NOK", "USD"]
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__CURRENCY", "SEK")
    assert currencies() == ["SEK", "USD"]


def test_a_chain_has_the_own_settings_of_the_installation_only_if_it_was_alone(monkeypatch, tmp_path):
    file = tmp_path / "shelfsync.toml"
    file.write_text('[platform]\nchain = "ours"\n[chains.old]\nwas_alone = true\n[chains.new]\n', encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    found = {}
    for chain in (None, "old", "new"):
        with chosen(chain):
            given = given_by(Settings)
            found[chain] = [source().get("platform") for source in given.sources.values() if source().get("platform")]
    assert found == {None: [{"chain": "ours"}], "old": [{"chain": "ours"}], "new": []}
