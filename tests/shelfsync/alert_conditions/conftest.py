"""A chain after a full sync of one product."""

from __future__ import annotations

import pytest

from alert_look import PRODUCT


def _one_product(world):
    world.platform.put_products("store-001", [PRODUCT])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")


@pytest.fixture
def world(world_after):
    """After a full sync of one product."""
    return world_after(_one_product)


@pytest.fixture
def context(world):
    return world.app.context
