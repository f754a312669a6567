"""The categories of a store, as the ERP last named them: also of a product that it no longer has."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync.catalog.assortment.product_categories import categories, skus_of_category
from shelfsync.catalog.ledger import extracts
from small_erp import SQL

pytestmark = pytest.mark.slow

NAMED = SQL.replace(" FROM", ", CASE sku WHEN 'c' THEN NULL WHEN 'd' THEN 'bread' ELSE 'dairy' END AS category FROM")


def test_a_category_has_its_products_also_those_that_have_left_the_erp(make_world):
    world = make_world(erp={"sql": NAMED})
    rows = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in "abcd"]
    world.platform.put_products("store-001", rows)
    for sku in "abcd":
        world.erp.put("store-001", sku)
    world.sync("full")
    world.erp.execute("DELETE FROM stock WHERE sku = 'b'")
    world.sync("full")
    context = world.app.context
    assert categories(context, "store-001") == ["bread", "dairy"]
    assert skus_of_category(context, "store-001", "dairy") == ["a", "b"]
    assert skus_of_category(context, "store-001", "toys") == []
    assert categories(context, "store-002") == []
    with context.engine.connect() as connection:
        path = extracts.categories_of(connection, "store-001")
    assert context.lake.remove(path, not_after=dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    assert (categories(context, "store-001"), skus_of_category(context, "store-001", "dairy")) == ([], [])


def test_a_store_whose_erp_names_no_category_has_none(world):
    world.erp.put("store-001", "a")
    world.sync("full")
    assert categories(world.app.context, "store-001") == []
