"""A misspelt setting is an error, or a warning where another program may be meant."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.settings import read_settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("SHELFSYNC_PLATFORM__ITEM_KY", "the nearest is SHELFSYNC_PLATFORM__ITEM_KEY"),
        ("SHELFSYNC_RATELIMIT__SCOPE", "the nearest is SHELFSYNC_RATE_LIMIT__SCOPE"),
        ("SHELFSYNC_GUARDS__NEW_SKU__MAX_ROWS", "the nearest is SHELFSYNC_GUARDS__NEW_SKUS"),
        ("SHELFSYNC_WEATHER__IN_ROME", "there is no such setting. Correct"),
        ("SHELFSYNC_GUARD__MASS_REMOVAL__MAX_SHARE", "the nearest is SHELFSYNC_GUARDS__MASS_REMOVAL__MAX_SHARE"),
        ("SHELFSYNC_DATABASE", "the nearest is SHELFSYNC_DATABASE_URL"),
        ("SHELFSYNC_HOEM", "the nearest is SHELFSYNC_HOME"),
        ("shelfsync_webhook_secret", "the nearest is SHELFSYNC_WEBHOOK__SECRET"),
    ],
)
def test_a_name_that_no_setting_has_is_an_error_with_the_nearest_one(monkeypatch, wrong, message):
    monkeypatch.setenv(wrong, "0")
    with pytest.raises(ConfigurationError, match=f"there is no such setting.*{message}|{message}"):
        read_settings()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "SHELFSYNC_SCOPE",
            "SHELFSYNC_SCOPE is set, and there is no such setting; the nearest is SHELFSYNC_RATE_LIMIT__SCOPE.",
        ),
        ("SHELFSYNC_PORT_8480_TCP", "SHELFSYNC_PORT_8480_TCP is set, and there is no such setting."),
    ],
)
def test_a_name_that_another_program_may_have_set_is_a_warning(monkeypatch, caplog, name, line):
    monkeypatch.setenv(name, "canary")
    read_settings()
    assert line in caplog.text
    assert "canary" not in caplog.text


def test_a_wrong_section_in_the_file_is_an_error_with_the_nearest_one(monkeypatch, tmp_path):
    file = tmp_path / "shelfsync.toml"
    file.write_text("[rate_limits]\nscope = 'token'\n", encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_RATE_LIMITS: .*the nearest is SHELFSYNC_RATE_LIMIT\."):
        read_settings()
