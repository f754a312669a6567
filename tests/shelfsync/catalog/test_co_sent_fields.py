"""What is sent beside a changed quantity or `active`, in a delta."""

from __future__ import annotations

from catalog_rows import FULL_ROW, changes, shelf, two


def test_active_true_is_sent_with_the_last_known_quantity_if_the_erp_has_none():
    before = two({"sku": "A", "quantity": 7, "active": False})
    assert changes(two({"sku": "A", "active": True}), before)["A"][1] == {"active": True, "quantity": 7}


def test_a_quantity_never_switches_on_what_is_meant_to_be_off():
    before = two({"sku": "A", "quantity": 0, "active": False})
    assert changes(two({"sku": "A", "quantity": 9, "active": False}), before)["A"][1] == {
        "quantity": 9,
        "active": False,
    }
    assert changes(two({"sku": "A", "quantity": 9}), before)["A"][1] == {"quantity": 9, "active": False}


def test_a_quantity_of_an_active_product_is_sent_without_active_beside_other_items():
    before = shelf({"sku": "A", **FULL_ROW}, {"sku": "B", **FULL_ROW})
    after = shelf({"sku": "A", **FULL_ROW, "quantity": 1}, {"sku": "B", **FULL_ROW, "quantity": 1})
    assert changes(after, before) == {"A": ("changed", {"quantity": 1}), "B": ("changed", {"quantity": 1})}


def test_a_quantity_in_a_delta_of_one_item_is_sent_with_active():
    assert changes(shelf({"sku": "A", **FULL_ROW, "quantity": 0}), shelf({"sku": "A", **FULL_ROW})) == {
        "A": ("changed", {"quantity": 0, "active": True})
    }
