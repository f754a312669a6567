"""The explanation of a SKU whose last change is older than the months that are kept."""

from __future__ import annotations

from decimal import Decimal

import pytest

from shelfsync.housekeeping.old_months import drop_old_months
from shelfsync.promotions.warehouse.customer_price import customer_price
from two_products import PRODUCTS


def _drop_all_months(world) -> None:
    with world.app.context.engine.begin() as connection:
        assert drop_old_months(connection, months=-1) != []


@pytest.mark.slow
def test_what_has_not_changed_for_longer_than_the_months_kept_is_still_known(world):
    world.platform.put_products("store-001", PRODUCTS)
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "3.99")
    world.sync("full")
    _drop_all_months(world)
    explain, engine = world.app.explain, world.app.context.engine
    for _ in range(2):
        found = explain("store-001", "a")
        assert "The platform shows 3.99 since before " in found.sentence
        assert "never acknowledged" not in found.sentence
        assert "The ERP has the same values" in found.sentence
        assert customer_price(engine, "store-001", "a", found.at).base_price == Decimal("3.99")
        world.erp.put("store-001", "b", "4.99")
        world.sync("delta")  # the history starts again, without this SKU
    assert "sent it in job 2" in explain("store-001", "b").sentence


@pytest.mark.slow
def test_a_price_older_than_the_months_kept_is_not_explained_by_a_later_change_of_another_value(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "3.99", 10)
    world.sync("full")
    _drop_all_months(world)
    world.erp.put("store-001", "a", "3.99", 10, limit=5)
    assert world.sync("delta")["sent"] == 1
    assert world.rows("SELECT job_id, price, max_sales_quantity FROM warehouse.baseline_history") == [
        (2, Decimal("3.99"), 5)
    ]
    found = world.app.explain("store-001", "a").sentence
    assert "The platform shows 3.99 since before " in found
    assert "sent it in job 2" not in found


@pytest.mark.slow
def test_an_instant_before_the_months_kept_is_not_explained_by_the_current_state(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "3.99")
    world.sync("full")
    engine = world.app.context.engine
    ((before,),) = world.rows("SELECT now() - interval '400 days'")
    found = world.app.explain("store-001", "a", at=before)
    assert found.acknowledged is None
    ((month,),) = world.rows("SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date")
    assert f"What the platform showed then is unknown: nothing from before {month} 00:00 UTC is kept." in found.sentence
    assert "never acknowledged" not in found.sentence
    _drop_all_months(world)
    assert world.app.explain("store-001", "a", at=before).acknowledged is None
    assert customer_price(engine, "store-001", "a", before).base_price is None
