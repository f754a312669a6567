"""What a whole reading finds that the changes did not report."""

from __future__ import annotations

from catalog_rows import normalised
from shelfsync.catalog.missed_changes import MISSED, missed_skus


def test_a_missed_sku_is_named_with_its_fields_and_equal_values_in_other_notation_are_not():
    reported = normalised(
        {"sku": "a", "price": "1.10", "quantity": "3"},
        {"sku": "b", "price": "2", "quantity": "3"},
        {"sku": "c", "price": "3", "quantity": "3"},
    )
    whole = normalised(
        {"sku": "a", "price": "1.1", "quantity": "3"},
        {"sku": "b", "price": "2.5", "quantity": "4"},
        {"sku": "d", "price": "4", "quantity": "3"},
    )
    found = missed_skus(reported, whole)
    assert found.schema == MISSED
    assert [(row["sku"], row["change"], row["fields"]) for row in found.to_pylist()] == [
        ("b", "changed", "price,quantity"),
        ("c", "removed", ""),
        ("d", "new", "price,quantity"),
    ]
    assert missed_skus(whole, whole).num_rows == 0
