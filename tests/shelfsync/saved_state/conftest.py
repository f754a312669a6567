"""A chain with decisions, its saved state, and new installations over the same platform."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from pydantic import SecretStr

from app_calls import open_calls
from shelfsync.saved_state.save import save

_keys = itertools.count(1)


@pytest.fixture
def saved(shop, tmp_path):
    """A chain with an approved, a declined and an open hold, a pause, and a campaign; and the file of its state."""
    world = shop.world
    shop.erp.put("spring", "a", "8.00")
    assert shop.sync()["state"] == "succeeded"
    for sku, price in (("a", "1000.00"), ("b", "2000.00"), ("c", "3000.00")):
        world.erp.put({"a": "store-001", "b": "store-002", "c": "store-003"}[sku], sku, price)
    world.sync()
    by_vendor = {hold["vendor"]: hold["hold_id"] for hold in world.app.holds.listed("open")}
    world.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    world.app.holds.decide(by_vendor["store-001"], approve=True, who="ada", why="a new pack")
    world.app.holds.decide(by_vendor["store-002"], approve=False, who="bob", why="a slip")
    path = tmp_path / "shelfsync.state"
    context = world.app.context
    return path, save(context.engine, context.lake, path, chain=None)


@pytest.fixture
def opened_new(shop, throwaway_database, tmp_path):
    """Opens a new installation over the same ERP and platform: an empty database, and a lake of its own."""
    with contextlib.ExitStack() as stack:

        def make():
            url = stack.enter_context(throwaway_database())
            settings = shop.world.settings.model_copy(
                update={"lake_url": str(tmp_path / f"lake-{next(_keys)}"), "database_url": SecretStr(url)}
            )
            return stack.enter_context(open_calls(settings))

        yield make
