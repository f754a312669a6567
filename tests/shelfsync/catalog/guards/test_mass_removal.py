"""Removals from the first above the share."""

from __future__ import annotations

import pytest

from guard_cases import BEFORE, reasons, split, store
from shelfsync.settings import GuardSettings


@pytest.mark.parametrize(("missing", "held"), [(299, {}), (300, {}), (301, {"mass_removal": 301})])
def test_removals_are_held_from_the_first_above_the_share(missing, held):
    off = GuardSettings(vanished_category={"enabled": False})
    assert reasons(split(store(range(missing, 1000)), BEFORE, limits=off)) == held


def test_the_message_of_a_hold_names_the_numbers_and_the_setting():
    (one,) = split(store(range(500)), BEFORE).held_changes
    assert "500 of 1000 SKUs on sale are missing" in one.message
    assert "SHELFSYNC_GUARDS__MASS_REMOVAL__MAX_ROWS" in one.message
    assert one.thresholds == {"max_rows": 5, "max_share": 0.3, "enabled": True}
