"""Where the settings file is, and what a file that cannot be used says."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelfsync import settings_file as settings
from shelfsync.errors import ConfigurationError
from shelfsync.settings_file import read_file


def test_without_a_project_the_state_folder_is_one_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "_IN_PLACE", False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert settings._default_home() == tmp_path / "state" / "shelfsync"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert settings._default_home() == Path.home() / ".local" / "state" / "shelfsync"


@pytest.mark.parametrize(("in_place", "typed"), [(True, "make down"), (False, "shelfsync down")])
def test_what_a_person_types_without_a_makefile_is_a_command_of_the_wheel(monkeypatch, in_place, typed):
    monkeypatch.setattr(settings, "_IN_PLACE", in_place)
    assert settings.local_command("down") == typed


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (None, 0o600, "there is no file"),
        ("[platform", 0o600, "cannot be read"),
        ("", 0o666, "SHELFSYNC_CONFIG"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_of_its_setting(monkeypatch, tmp_path, content, mode, says):
    path = tmp_path / "shelfsync.toml"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(path))
    with pytest.raises(ConfigurationError, match=says) as caught:
        read_file()
    assert caught.value.setting == "SHELFSYNC_CONFIG"
