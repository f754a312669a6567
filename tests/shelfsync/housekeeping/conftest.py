from __future__ import annotations

import pytest

from two_products import PRODUCTS

MOMENT = 1e-7
"""Days: everything is older than this."""


def _lived(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "b", "oops")
    world.sync("full")
    for price in ("2.00", "3.00", "4.00"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")


@pytest.fixture
def lived(world_after):
    """A vendor with a history of runs, all of it older than its retention."""
    days = (
        "run_days",
        "snapshot_days",
        "baseline_days",
        "observation_days",
        "event_days",
        "quarantine_days",
        "history_days",
        "repeated_outcome_days",
    )
    return world_after(_lived, housekeeping=dict.fromkeys(days, MOMENT) | {"lake_grace_hours": 1})
