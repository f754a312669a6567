"""The last known category of every SKU."""

from __future__ import annotations

from catalog_rows import shelf, snapshot
from shelfsync.catalog.guards.last_categories import last_categories


def test_a_category_that_the_erp_no_longer_names_is_the_last_one_as_long_as_the_sku_is_known():
    known = last_categories(
        None, snapshot({"sku": "a", "category": "dairy"}, {"sku": "b", "category": "drinks"}), shelf()
    )
    assert known.to_pylist() == [{"sku": "a", "category": "dairy"}, {"sku": "b", "category": "drinks"}]
    now = snapshot({"sku": "b", "category": "sweets"}, {"sku": "c"})
    assert last_categories(known, now, shelf({"sku": "a"})).to_pylist() == [
        {"sku": "a", "category": "dairy"},
        {"sku": "b", "category": "sweets"},
    ]
    assert last_categories(known, now, shelf()).to_pylist() == [{"sku": "b", "category": "sweets"}]


def test_there_are_no_categories_until_the_erp_names_one():
    assert last_categories(None, snapshot({"sku": "a"}), shelf()) is None
