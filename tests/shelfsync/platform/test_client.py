"""The client of the platform is made from the settings; one that is missing or wrong is named before anything is sent."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError

CASES = {
    "SHELFSYNC_PLATFORM__BASE_URL": {"base_url": None},
    "SHELFSYNC_PLATFORM__CHAIN": {"chain": None},
    "SHELFSYNC_PLATFORM__CLIENT_ID": {"client_id": None, "token": None},
    "SHELFSYNC_PLATFORM__CLIENT_SECRET": {"client_secret": None, "token": None},
    "SHELFSYNC_PLATFORM__DIALECT": {"dialect": {"tokn_path": "/x"}},
}


@pytest.mark.parametrize("setting", CASES)
def test_a_setting_without_which_there_is_no_client_is_named(setting, make_world):
    world = make_world(platform=CASES[setting])
    with pytest.raises(ConfigurationError) as raised:
        world.app.context.open_platform()
    assert raised.value.setting == setting
