"""The database is restored from a backup older than what the platform and the lake have seen since."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from app_calls import open_calls

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.fixture
def restored(world, postgres, database_url):
    """A backup is made after the first full sync. Later runs change prices. Then the backup is restored."""
    with contextlib.ExitStack() as closing:
        world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("changed", "back", "sold", "same")])
        for sku in ("changed", "back", "sold", "same"):
            world.erp.put("store-001", sku, "1", 10, 1, 5)
        world.sync("full")
        world.app.context.engine.dispose()  # a database with an open connection cannot be copied
        name = sa.make_url(database_url).database
        url = postgres.create_database(f"{name}_backup", template=name)
        closing.callback(postgres.drop_database, f"{name}_backup")
        for price, active in (("2", 1), ("3", 0)):
            for sku in ("changed", "back"):
                world.erp.put("store-001", sku, price, 10, 1, 5)
            world.erp.put("store-001", "sold", "1", 10, active, 5)
            world.sync("delta")
        world.erp.put("store-001", "changed", "4", 10, 1, 5)
        world.erp.put("store-001", "back", "1", 10, 1, 5)
        world.app = closing.enter_context(
            open_calls(world.settings.model_copy(update={"database_url": SecretStr(url)}))
        )
        yield world


def _prices(world):
    return {sku: (Decimal(str(row["price"])), row["active"]) for sku, row in world.shown().items()}


@pytest.mark.slow
def test_a_delta_after_an_old_backup_sends_what_differs_from_the_backup(restored):
    assert restored.sync("delta")["state"] == "succeeded"
    shown = _prices(restored)
    assert shown["changed"] == (Decimal(4), True)
    assert shown["sold"] == (Decimal(1), False)
    assert shown["back"] == (Decimal(3), True), (
        "it equals the old baseline, so that only a full sync or an export can know"
    )


@pytest.mark.slow
def test_a_full_sync_after_an_old_backup_makes_the_platform_equal_to_the_erp(restored):
    restored.sync("delta")
    assert restored.sync("full")["state"] == "succeeded"
    assert _prices(restored) == {
        "changed": (Decimal(4), True),
        "back": (Decimal(1), True),
        "sold": (Decimal(1), False),
        "same": (Decimal(1), True),
    }
    assert restored.sync("delta")["sent"] == 0
    counted = "SELECT sum(sent), sum(accepted) + sum(rejected) + sum(unaccounted) FROM warehouse.catalog_job"
    assert len(set(restored.rows(counted)[0])) == 1
