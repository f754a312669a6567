"""The thresholds of the guards by store and category, and for one decision."""

from __future__ import annotations

import pytest

from shelfsync.settings.guard_thresholds import RULES, GuardSettings


def test_each_rule_has_thresholds_for_every_store():
    settings = GuardSettings(overrides={"store-001": {"zero_price": {"enabled": False}}})
    assert all(settings.limit(rule, "store-002") == getattr(settings, rule) for rule in RULES)
    assert settings.limit("zero_price", "store-001").enabled is False


def test_thresholds_for_one_decision_change_one_rule_of_one_place():
    settings = GuardSettings()
    once = settings.with_thresholds("store-001", "dairy", "new_skus", {"max_rows": 7})
    assert once.limit("new_skus", "store-001", "dairy").max_rows == 7
    assert once.limit("new_skus", "store-001") == settings.limit("new_skus", "store-001")
    with pytest.raises(ValueError, match="max_share"):
        settings.with_thresholds("store-001", None, "new_skus", {"max_share": 2})


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"v": {"no_such_rule": {}}}, "no_such_rule"),
        ({"v": {"new_skus": {"max_share": 2}}}, "max_share"),
        ({"v/c": {"new_skus": {"shares": 1}}}, "shares"),
    ],
)
def test_an_override_that_is_none_fails_when_settings_are_read(overrides, named):
    with pytest.raises(ValueError, match=named):
        GuardSettings(overrides=overrides)
