"""What is explained of a SKU whose last change is older than the months that are kept."""

from __future__ import annotations

from decimal import Decimal

from shelfsync.warehouse import partitions
from shelfsync.warehouse.customer_price import customer_price

PRODUCTS = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in ("a", "b")]


def _drop_all_months(world) -> None:
    with world.house.parts.engine.begin() as connection:
        assert partitions.retire(connection, months=-1) != []


def test_what_has_not_changed_for_longer_than_the_months_kept_is_still_known(world):
    world.platform.put_products("store-001", PRODUCTS)
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "3.99")
    world.sync("full")
    _drop_all_months(world)
    explain, engine = world.house.explain, world.house.parts.engine
    for _ in range(2):
        told = explain("store-001", "a")
        assert "It shows 3.99 since before " in told.sentence
        assert "never acknowledged" not in told.sentence
        assert "The ERP says the same" in told.sentence
        assert customer_price(engine, "store-001", "a", told.at).base_price == Decimal("3.99")
        world.erp.put("store-001", "b", "4.99")
        world.sync("delta")  # the history begins anew, without this SKU
    assert "sent it in job 2" in explain("store-001", "b").sentence


def test_a_price_older_than_the_months_kept_is_not_said_to_come_with_a_later_change_of_something_else(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "3.99", 10)
    world.sync("full")
    _drop_all_months(world)
    world.erp.put("store-001", "a", "3.99", 10, limit=5)
    assert world.sync("delta")["sent"] == 1
    assert world.rows("SELECT job_id, price, max_sales_quantity FROM warehouse.baseline_history") == [
        (2, Decimal("3.99"), 5)
    ]
    told = world.house.explain("store-001", "a").sentence
    assert "It shows 3.99 since before " in told
    assert "sent it in job 2" not in told


def test_an_instant_before_the_months_kept_is_not_told_by_what_holds_now(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "3.99")
    world.sync("full")
    engine = world.house.parts.engine
    ((before,),) = world.rows("SELECT now() - interval '400 days'")
    told = world.house.explain("store-001", "a", at=before)
    assert told.acknowledged is None
    ((month,),) = world.rows("SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date")
    assert f"What it showed then is not known: nothing from before {month} is kept." in told.sentence
    assert "never acknowledged" not in told.sentence
    _drop_all_months(world)
    assert world.house.explain("store-001", "a", at=before).acknowledged is None
    assert customer_price(engine, "store-001", "a", before).base_price is None
