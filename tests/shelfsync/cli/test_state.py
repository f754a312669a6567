from __future__ import annotations

import json

import pytest

from commands_here import commands_here


@pytest.fixture
def here(database_url, tmp_path, monkeypatch, capsys):
    environment = {"SHELFSYNC_HOME": str(tmp_path / "home"), "SHELFSYNC_DATABASE_URL": database_url}
    with commands_here(environment, tmp_path, monkeypatch, capsys) as call:
        yield call


def test_a_file_is_saved_shown_and_loaded_once(here, tmp_path):
    assert here("pause", "--all", "--reason", "upgrade", "--user", "ada")[0] == 0
    code, shown, complaint = here("state", "save", "now.state")
    assert code == 0, complaint
    assert "1  ledger.switch" in shown
    code, _, complaint = here("state", "load", "now.state")
    assert code == 4
    assert "has rows already (ledger.switch)" in complaint
    assert "createdb" in complaint
    code, shown, _ = here("state", "save", "now.state", "--json")
    assert code == 0, "a file of its own kind is replaced"
    assert json.loads(shown)["data"]["tables"]["ledger.switch"] == 1
    (tmp_path / "other").write_text("{}")
    code, _, complaint = here("state", "load", "other")
    assert code == 4
    assert "other is no whole saved state" in complaint
    code, _, complaint = here("state", "load", "none")
    assert code == 4
    assert "none: No such file or directory" in complaint
