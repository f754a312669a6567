"""What is a stop-sell, what a price correction."""

from __future__ import annotations

from hypothesis import given

from catalog_rows import delta as a_delta
from catalog_rows import fields_by_sku, shelf
from catalog_strategies import shelves
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.stop_sell import priorities

SHELVES = shelves()


@given(SHELVES, SHELVES)
def test_the_price_priority_has_no_inactive_or_unknown_product(snapshot, baseline):
    whole = compute_delta(snapshot, baseline, full=False)
    before = fields_by_sku(baseline)
    for row, priority in zip(whole.to_pylist(), priorities(whole, baseline).to_pylist(), strict=True):
        if priority == "price":
            assert row["sku"] in set(baseline["sku"].to_pylist())
            assert row["price"] is not None
            assert row["active"] is not False
            assert row["quantity"] != 0
        if priority == "stop_sell":
            assert row["active"] is False or row["quantity"] == 0
            assert before.get(row["sku"], {}).get("active") is not False


ROW = {"sku": "a", "price": "2.00", "quantity": 5, "active": True, "sales_buffer": 3}


def priority_of(now, before=ROW):
    return priorities(a_delta({"sku": "a", **now}), shelf(before) if before else shelf()).to_pylist()[0]


def test_the_priority_of_each_change():
    assert priority_of({"active": False}) == "stop_sell"
    assert priority_of({"active": False, "change": "removed"}) == "stop_sell"
    assert priority_of({"quantity": 0}) == "stop_sell"
    assert priority_of({"quantity": 2, "sales_buffer": 3}) == "stop_sell"
    assert priority_of({"quantity": 2}) == "catalog"
    assert priority_of({"quantity": 0, "price": "3.00"}) == "stop_sell"
    assert priority_of({"price": "3.00"}) == "price"
    assert priority_of({"price": "3.00", "quantity": 40, "sales_buffer": 3}) == "price"
    assert priority_of({"price": "3.00"}, ROW | {"active": False}) == "catalog"
    assert priority_of({"price": "3.00"}, ROW | {"quantity": 0}) == "catalog"
    assert priority_of({"price": "3.00", "quantity": 9, "active": True}, ROW | {"active": False}) == "price"
    assert priority_of({"active": True, "quantity": 9}, ROW | {"active": False}) == "catalog"
    assert priority_of({"price": "3.00", "quantity": 9, "active": True}, None) == "catalog"
    assert priority_of({"active": False}, None) == "stop_sell"
    assert priority_of({"active": False, "quantity": 4}, ROW | {"active": False}) == "catalog"
    assert priority_of({"price": "2.00", "quantity": 5, "active": True, "change": "same"}) == "catalog"
    assert priority_of({"price": "2.00", "active": True}, ROW | {"price": None}) == "price"
