"""Pages of any size have each rejected and each quarantined row once, in one order, and the groups count what the pages have."""

from __future__ import annotations

from collections import Counter

import pytest

from shelfsync.catalog.warehouse.rows_by_reason import QUARANTINED, REJECTED, groups
from shelfsync.errors import DataError
from shelfsync.store.keyset_list import every_page, page


def _rejected_and_faulty(world):
    for vendor, skus in (("store-001", ["a", "B", "ä", "ab", "10", "9"]), ("store-002", ["a", "z"])):
        for sku in skus:
            world.erp.put(vendor, sku, "1.00")
    for sku, price, quantity in (("q1", "x", 1), ("q2", "y", "z"), ("q3", "1.00", "z")):
        world.erp.put("store-001", sku, price, quantity)
    world.erp.put("", "nobody's", "1.00")
    world.sync("full")


@pytest.fixture
def engine(world_after):
    """Rejected SKUs of two vendors, and rows with faults, one of which has two and one of which names no vendor."""
    return world_after(_rejected_and_faulty).app.context.engine


@pytest.mark.parametrize(
    ("kind", "order"), [(kind, order) for kind in (REJECTED, QUARANTINED) for order in kind.orders]
)
@pytest.mark.parametrize("asked", [{}, {"vendor": "store-001"}, {"sku": "a"}, {"sku": "q"}])
def test_pages_of_any_size_have_each_row_once_and_in_one_order(engine, kind, order, asked):
    whole = [row for rows in every_page(engine.connect, kind, asked, order=order, most=1_000) for row in rows]
    for most in (1, 2, 3):
        pages = list(every_page(engine.connect, kind, asked, order=order, most=most))
        assert [row for rows in pages for row in rows] == whole
        assert all(len(rows) <= most for rows in pages)
    with engine.connect() as connection:
        counted = {row["reason"]: row["rows"] for row in groups(connection, kind, asked, most=100)}
    assert counted == Counter(row["reason"] for row in whole)
    assert all(asked.get("vendor", row["vendor"]) == row["vendor"] for row in whole)
    assert all(row["sku"].startswith(asked["sku"]) for row in whole if "sku" in asked)


def test_there_are_rows_to_look_at(engine):
    with engine.connect() as connection:
        assert len(page(connection, REJECTED, {}, most=100)) >= 8
        assert {row["vendor"] for row in page(connection, QUARANTINED, {}, most=100)} == {"", "store-001"}


def test_a_key_of_other_rows_is_refused(engine):
    with engine.connect() as connection, pytest.raises(DataError, match="names no row to go on behind"):
        page(connection, REJECTED, {}, after=["store-001"], most=1)


def test_an_order_that_the_list_does_not_have_is_refused(engine):
    with engine.connect() as connection, pytest.raises(DataError, match="it has no order 'price'"):
        page(connection, REJECTED, {}, order="price", most=1)
