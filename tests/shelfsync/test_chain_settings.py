"""The settings of each chain alone are settings that there are."""

from __future__ import annotations

from shelfsync.chain_settings import OWN_SECTIONS, OWN_SETTINGS
from shelfsync.settings import Settings


def test_every_own_setting_is_known():
    assert set(OWN_SECTIONS) <= set(Settings.model_fields)
    for section, names in OWN_SETTINGS.items():
        assert set(names) <= set(Settings.model_fields[section].annotation.model_fields)
